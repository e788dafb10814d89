// Reads JSON lines, groups and sorts them, writes JSON.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"sort"
	"strings"
)

type Order struct {
	ID     int      `json:"id"`
	Name   string   `json:"name"`
	Amount float64  `json:"amount"`
	Tags   []string `json:"tags"`
}

func generate(n int) []string {
	out := make([]string, 0, n)
	for i := 0; i < n; i++ {
		b, _ := json.Marshal(Order{i, fmt.Sprintf("customer %d", rand.Intn(1000)), rand.Float64() * 100, []string{"a", "b"}})
		out = append(out, string(b))
	}
	return out
}

func group(lines []string) map[string][]Order {
	out := map[string][]Order{}
	for _, l := range lines {
		var o Order
		if json.Unmarshal([]byte(l), &o) == nil {
			out[o.Name] = append(out[o.Name], o)
		}
	}
	return out
}

func report(groups map[string][]Order) string {
	names := make([]string, 0, len(groups))
	for n := range groups {
		names = append(names, n)
	}
	sort.Strings(names)
	var b strings.Builder
	for _, n := range names {
		sum := 0.0
		for _, o := range groups[n] {
			sum += o.Amount
		}
		fmt.Fprintf(&b, "%s %.2f\n", n, sum)
	}
	return b.String()
}

func main() {
	lines := generate(150000)
	for i := 0; i < 4; i++ {
		fmt.Fprintln(os.Stderr, len(report(group(lines))))
	}
}
