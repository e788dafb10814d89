// Goroutines that wait: for a mutex that one of them holds asleep, for a channel, in a timer.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

var lock sync.Mutex

func hold(d time.Duration) {
	lock.Lock()
	time.Sleep(d)
	lock.Unlock()
}

func want(waited *time.Duration, done *sync.WaitGroup) {
	before := time.Now()
	lock.Lock()
	*waited = time.Since(before)
	lock.Unlock()
	done.Done()
}

func main() {
	ms := 300
	if len(os.Args) > 1 {
		ms, _ = strconv.Atoi(os.Args[1])
	}
	length := time.Duration(ms) * time.Millisecond
	var waited [4]time.Duration
	var done sync.WaitGroup
	go hold(length / 2)
	time.Sleep(length / 10)
	for i := range waited {
		done.Add(1)
		go want(&waited[i], &done)
	}
	until := time.Now().Add(length / 3)
	n := 0
	for time.Now().Before(until) {
		n++
	}
	done.Wait()
	fmt.Printf("{\"program\": \"gopher\", \"pid\": %d, \"goroutines\": [", os.Getpid())
	for i, w := range waited {
		if i > 0 {
			fmt.Print(", ")
		}
		fmt.Printf("%d", w.Nanoseconds())
	}
	fmt.Println("]}")
}
