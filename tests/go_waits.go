package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sync"
	"time"
)

var mu sync.Mutex
var rw sync.RWMutex

type store struct{ n int }

func (s *store) refresh(d time.Duration) {
	mu.Lock()
	time.Sleep(d)
	s.n++
	mu.Unlock()
}

func request(s *store, wg *sync.WaitGroup) {
	defer wg.Done()
	for i := 0; i < 10; i++ {
		mu.Lock()
		s.n++
		mu.Unlock()
		time.Sleep(time.Millisecond)
	}
}

func consume(c chan int, done chan bool) {
	for range c {
	}
	done <- true
}

func profiles() {
	runtime.SetBlockProfileRate(1)
	runtime.SetMutexProfileFraction(1)
	s := &store{}
	var wg sync.WaitGroup
	for i := 0; i < 8; i++ {
		wg.Add(1)
		go request(s, &wg)
	}
	for i := 0; i < 5; i++ {
		s.refresh(20 * time.Millisecond)
		time.Sleep(2 * time.Millisecond)
	}
	wg.Wait()
	c, done := make(chan int), make(chan bool)
	go consume(c, done)
	for i := 0; i < 5; i++ {
		time.Sleep(10 * time.Millisecond)
		c <- i
	}
	close(c)
	<-done
	for _, n := range []string{"block", "mutex"} {
		f, _ := os.Create(n + ".pb.gz")
		pprof.Lookup(n).WriteTo(f, 0)
		f.Close()
		f, _ = os.Create(n + ".txt")
		pprof.Lookup(n).WriteTo(f, 1)
		f.Close()
	}
}

func parkOn(c chan int, words string, n int) int { return <-c + n + len(words) }

func goroutines() {
	mu.Lock()
	rw.Lock()
	var cond = sync.NewCond(&sync.Mutex{})
	var wg sync.WaitGroup
	wg.Add(1)
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	r, _, _ := os.Pipe()
	for i := 0; i < 3; i++ {
		go parkOn(make(chan int), "words", i)
	}
	go func() { mu.Lock() }()
	go func() { rw.RLock() }()
	go func() { cond.L.Lock(); cond.Wait() }()
	go func() { wg.Wait() }()
	go func() { l.Accept() }()
	go func() { b := make([]byte, 1); r.Read(b) }()
	go func() { time.Sleep(time.Hour) }()
	go func() { select {} }()
	go func() { var c chan int; <-c }()
	go func() { var c chan int; c <- 1 }()
	go func() { c := make(chan int); c <- 1 }()
	go func() {
		select {
		case <-time.After(time.Hour):
		case <-make(chan int):
		}
	}()
	go func() { runtime.LockOSThread(); <-make(chan int) }()
	pprof.Do(context.Background(), pprof.Labels("tenant", "a b", "kind", "x"), func(ctx context.Context) {
		go func() { <-make(chan int) }()
	})
	go func() {
		for {
		}
	}()
	var deep func(n int)
	deep = func(n int) {
		if n > 0 {
			deep(n - 1)
			return
		}
		<-make(chan int)
	}
	go deep(150)
	if len(os.Args) > 2 {
		time.Sleep(200 * time.Millisecond)
		runtime.GC()
		time.Sleep(65 * time.Second)
	} else {
		time.Sleep(100 * time.Millisecond)
	}
	for i, n := range []string{"debug1.txt", "debug2.txt"} {
		f, _ := os.Create(n)
		pprof.Lookup("goroutine").WriteTo(f, i+1)
		f.Close()
	}
	f, _ := os.Create("goroutine.pb.gz")
	pprof.Lookup("goroutine").WriteTo(f, 0)
	f.Close()
	_ = bytes.MinRead
	if len(os.Args) > 3 {
		debug.SetTraceback("all")
		var s *store
		s.n++
	}
}

func main() {
	if os.Args[1] == "profiles" {
		profiles()
	} else {
		goroutines()
	}
}
