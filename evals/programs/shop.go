// A shop that prices baskets. Planted: price marshals each basket to JSON and back (a deep copy), which costs most of its
// CPU and makes most of its garbage; sessions (a map that is never emptied) grow.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
)

type item struct {
	Name  string
	Count int
	Price float64
	Tags  []string
}

type basket struct {
	User  string
	Items []item
}

var sessions = map[string]*basket{}

//go:noinline
func deepCopy(b *basket) *basket {
	text, err := json.Marshal(b)
	if err != nil {
		panic(err)
	}
	var out basket
	if err := json.Unmarshal(text, &out); err != nil {
		panic(err)
	}
	return &out
}

//go:noinline
func price(b *basket) float64 {
	sum := 0.0
	for _, i := range deepCopy(b).Items {
		sum += float64(i.Count) * i.Price
	}
	return sum
}

//go:noinline
func remember(b *basket) {
	sessions[b.User] = deepCopy(b)
}

func makeBasket(n int) *basket {
	b := &basket{User: "user-" + strconv.Itoa(n)}
	for k := 0; k < 12; k++ {
		b.Items = append(b.Items, item{"thing-" + strconv.Itoa(n*k%997), k, float64(n%89) / 7, []string{"a", "b", "c"}})
	}
	return b
}

func dump(dir string, n int) {
	runtime.GC()
	f, err := os.Create(fmt.Sprintf("%s/heap-%d.pb.gz", dir, n))
	if err != nil {
		panic(err)
	}
	defer f.Close()
	if err := pprof.Lookup("heap").WriteTo(f, 0); err != nil {
		panic(err)
	}
}

func main() {
	dir := os.Args[1]
	f, err := os.Create(dir + "/cpu.pb.gz")
	if err != nil {
		panic(err)
	}
	runtime.MemProfileRate = 64 << 10
	if err := pprof.StartCPUProfile(f); err != nil {
		panic(err)
	}
	total := 0.0
	for n := 0; n < 90000; n++ {
		b := makeBasket(n)
		total += price(b)
		if n%10 == 0 {
			remember(b)
		}
		if n%30000 == 29999 {
			dump(dir, n/30000+1)
		}
	}
	pprof.StopCPUProfile()
	f.Close()
	fmt.Println(total)
}
