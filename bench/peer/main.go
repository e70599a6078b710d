// Command peer is what a program costs that reads logs with nothing but the
// standard library: each line with bufio.Scanner, each record into a map with
// encoding/json. It prints how many records of each type there are.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
)

func main() {
	types := map[string]int{}
	for _, name := range os.Args[1:] {
		if err := count(name, types); err != nil {
			fmt.Fprintln(os.Stderr, "peer:", err)
			os.Exit(1)
		}
	}
	for _, t := range slices.Sorted(maps.Keys(types)) {
		fmt.Println(t, types[t])
	}
}

func count(name string, types map[string]int) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<30)
	for s.Scan() {
		var record map[string]any
		if err := json.Unmarshal(s.Bytes(), &record); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		t, _ := record["type"].(string)
		types[t]++
	}
	return s.Err()
}
