package live

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/skilltrace/skilltrace/budget"
)

// cache is a folder with a file for each reply, named by its key. The zero value keeps
// nothing.
type cache struct{ folder string }

const sampleSchema = "skilltrace/live-sample@1"

// maxSample bounds a file of the cache, in bytes.
const maxSample = 1 << 20

// sampleFile is a reply in the cache. Of what the model wrote it has the names of
// tools and skills only.
type sampleFile struct {
	Schema string     `json:"schema"`
	Key    string     `json:"key"`
	Model  string     `json:"model"`
	Stop   string     `json:"stop_reason"`
	Calls  []callFile `json:"calls"`
	Usage  usageFile  `json:"usage"`
}

type callFile struct {
	Tool  string `json:"tool"`
	Skill string `json:"skill,omitempty"`
}

type usageFile struct {
	Input        int64 `json:"input"`
	Output       int64 `json:"output"`
	CacheRead    int64 `json:"cache_read,omitempty"`
	CacheWrite5m int64 `json:"cache_write_5m,omitempty"`
	CacheWrite1h int64 `json:"cache_write_1h,omitempty"`
	CacheWrite   int64 `json:"cache_write,omitempty"`
}

func openCache(folder string) (cache, error) {
	// The replies to private logs are private.
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return cache{}, err
	}
	return cache{folder}, nil
}

func (c cache) path(key string) string { return filepath.Join(c.folder, key+".json") }

// load is the reply kept under key. A file that is not whole, or is of another key, is
// as good as none: the question is asked anew and the file replaced.
func (c cache) load(key string) (Sample, bool) {
	if c.folder == "" {
		return Sample{}, false
	}
	f, err := os.Open(c.path(key))
	if err != nil {
		return Sample{}, false
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxSample+1))
	if err != nil || len(raw) > maxSample {
		return Sample{}, false
	}
	var s sampleFile
	if json.Unmarshal(raw, &s) != nil || s.Schema != sampleSchema || s.Key != key || s.Stop == "" || s.Calls == nil {
		return Sample{}, false
	}
	out := Sample{Stop: s.Stop, Model: s.Model, Usage: usageOf(s.Usage), Cached: true}
	for _, call := range s.Calls {
		out.Calls = append(out.Calls, Call(call))
	}
	return out, true
}

func usageOf(u usageFile) budget.Usage {
	return budget.Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead,
		CacheWrite5m: u.CacheWrite5m, CacheWrite1h: u.CacheWrite1h, CacheWrite: u.CacheWrite}
}

// save keeps a reply: all of it or nothing, whoever else writes or reads.
func (c cache) save(key string, s *Sample) (err error) {
	if c.folder == "" {
		return nil
	}
	u := s.Usage
	file := sampleFile{Schema: sampleSchema, Key: key, Model: s.Model, Stop: s.Stop, Calls: []callFile{}, Usage: usageFile{
		u.Input, u.Output, u.CacheRead, u.CacheWrite5m, u.CacheWrite1h, u.CacheWrite}}
	for _, call := range s.Calls {
		file.Calls = append(file.Calls, callFile(call))
	}
	raw, err := json.Marshal(file)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(c.folder, ".sample-*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(raw, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), c.path(key))
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
