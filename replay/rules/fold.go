package rules

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
)

// fieldPaths maps each rule tag below Rules to the path of its field.
var fieldPaths = sync.OnceValue(func() map[string][]int {
	paths := map[string][]int{}
	var walk func(t reflect.Type, path []int)
	walk = func(t reflect.Type, path []int) {
		for i := range t.NumField() {
			f := t.Field(i)
			p := append(slices.Clone(path), i)
			if key, ok := f.Tag.Lookup("rule"); ok {
				if _, twice := paths[key]; twice {
					panic("rule tag " + key + " stands twice")
				}
				paths[key] = p
			} else if f.Type.Kind() == reflect.Struct {
				walk(f.Type, p)
			}
		}
	}
	walk(reflect.TypeFor[Rules](), nil)
	return paths
})

// set gives a rule a value, which must be of the field's kind and one of its
// choices.
func (r *Rules) set(key string, value any) error {
	path, ok := fieldPaths()[key]
	if !ok {
		return fmt.Errorf("%s: no such rule", key)
	}
	k, ok := KeyNamed(key)
	if !ok {
		return fmt.Errorf("%s: not described", key)
	}
	if err := k.check(value); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	f := reflect.ValueOf(r).Elem().FieldByIndex(path)
	switch v := value.(type) {
	case bool:
		f.SetBool(v)
	case int:
		f.SetInt(int64(v))
	case string:
		f.SetString(v)
	case []string:
		f.Set(reflect.ValueOf(slices.Clone(v)))
	}
	return nil
}

// Value returns the value of a rule by its key: a bool, an int, a string or a
// []string, which must not be changed.
func (r Rules) Value(key string) (value any, ok bool) {
	path, ok := fieldPaths()[key]
	if !ok {
		return nil, false
	}
	f := reflect.ValueOf(r).FieldByIndex(path)
	switch f.Kind() {
	case reflect.Bool:
		return f.Bool(), true
	case reflect.Int:
		return int(f.Int()), true
	case reflect.String:
		return f.String(), true
	}
	return f.Interface(), true
}
