package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// caseFile is what makes a folder a recording.
const caseFile = "case.yaml"

// Find lists the recordings below root, which may be the folder of all families,
// a family, a scenario or a single recording; other folders are skipped. They
// are sorted by family, scenario and version.
func Find(root string) ([]string, error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s: not a folder of recordings", root)
	}
	var found []string
	var walk func(dir string, depth int) error
	walk = func(dir string, depth int) error {
		if info, err := os.Stat(filepath.Join(dir, caseFile)); err == nil && info.Mode().IsRegular() {
			found = append(found, dir)
			return nil
		}
		if depth == 0 {
			return nil
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.IsDir() && e.Name() != filesDir {
				if err := walk(filepath.Join(dir, e.Name()), depth-1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := walk(filepath.Clean(root), 3); err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b string) int {
		if c := strings.Compare(filepath.Dir(a), filepath.Dir(b)); c != 0 {
			return c
		}
		return CompareVersions(filepath.Base(a), filepath.Base(b))
	})
	return found, nil
}

// CompareVersions compares client versions number by number.
func CompareVersions(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(x, y string) int {
		m, err1 := strconv.Atoi(x)
		n, err2 := strconv.Atoi(y)
		if err1 != nil || err2 != nil {
			return strings.Compare(x, y)
		}
		return m - n
	})
}
