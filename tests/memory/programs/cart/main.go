// A cart whose memory is known (../../truth.py): every allocation is counted, and the heap is written after each
// third of 3000 steps, half a second apart.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"time"
)

type Order struct{ text [128]byte }
type Item struct{ text [256]byte }
type Session struct{ user [64]byte }

var (
	orders   []*Order
	items    = map[int]*Item{}
	sessions = map[int]*Session{}
	catalog  []byte
	never    = make(chan int)
	sink     any
)

// Grows: 128 bytes, and 8 in a slice.
//
//go:noinline
func addOrder() { orders = append(orders, new(Order)) }

// Held: 300 of 256 bytes, and their map.
//
//go:noinline
func cacheItem(i int) {
	if items[i%300] == nil {
		items[i%300] = new(Item)
	}
}

// Grows: 64 bytes, and a map.
//
//go:noinline
func openSession(i int) { sessions[i] = new(Session) }

// Held: 1 MiB.
//
//go:noinline
func loadCatalog() { catalog = make([]byte, 1<<20) }

// Leaks: a goroutine that waits for ever and holds 1 KiB.
//
//go:noinline
func watchCart() {
	seen := make([]byte, 1024)
	go func() {
		<-never
		fmt.Println(len(seen), cap(seen), seen[0])
	}()
}

// Churn.
//
//go:noinline
func renderPage(i int) int {
	n := 0
	for k := 0; k < 20; k++ {
		var b strings.Builder
		b.Grow(512)
		b.WriteByte(byte(i))
		n += b.Len()
		sink = b.String()
	}
	return n
}

// The peak: 8 MiB for a moment.
//
//go:noinline
func yearlyReport() int {
	pages := make([]byte, 8<<20)
	sink = pages
	return len(pages)
}

func dump(name string) {
	sink = nil
	runtime.GC()
	f, err := os.Create(name)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	if err := pprof.WriteHeapProfile(f); err != nil {
		panic(err)
	}
}

func main() {
	runtime.MemProfileRate = 1
	const steps = 3000
	loadCatalog()
	for i := 0; i < steps; i++ {
		addOrder()
		cacheItem(i)
		openSession(i)
		renderPage(i)
		if i%10 == 0 {
			watchCart()
			time.Sleep(5 * time.Millisecond)
		}
		if i == steps/2 {
			yearlyReport()
		}
		if (i+1)%(steps/3) == 0 {
			dump(fmt.Sprintf("cart.%d.pb.gz", (i+1)/(steps/3)))
		}
	}
}
