// Counts primes in goroutines.
package main

import (
	"fmt"
	"sync"
)

func primes(from, to int) int {
	n := 0
	for i := from; i < to; i++ {
		prime := i > 1
		for k := 2; k*k <= i; k++ {
			if i%k == 0 {
				prime = false
				break
			}
		}
		if prime {
			n++
		}
	}
	return n
}

func main() {
	var mu sync.Mutex
	var wg sync.WaitGroup
	total := 0
	for w := 0; w < 8; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := w; i < 400; i += 8 {
				n := primes(i*10000, i*10000+10000)
				mu.Lock()
				total += n
				mu.Unlock()
			}
		}()
	}
	wg.Wait()
	fmt.Println(total)
}
