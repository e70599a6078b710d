package report

import (
	"testing"
	"time"
)

func TestConfigDocument(t *testing.T) {
	doc := &ConfigDocument{Schema: ConfigSchema,
		Files: []ConfigFile{{Kind: FromProject, Path: "../.skilltrace.yaml", Found: true}, {Kind: FromUser, Path: "/home/dev/.skilltrace.yaml"}},
		Options: []ConfigOption{
			{Option: "by", Value: []string{"skill", "month"}, From: FromProject, File: "../.skilltrace.yaml", Line: 3, Commands: []string{"cost"}, All: true, ProjectMaySet: true},
			{Option: "config-dir", Value: []string{"/home/dev/.claude", "/srv/\x1b[31mlogs"}, From: FromEnvironment, Variable: "CLAUDE_CONFIG_DIR", Commands: []string{"cost", "replay", "sessions"}, All: true},
			{Option: "format", Value: "table", From: FromProgram, Commands: []string{"replay", "sessions"}, ProjectMaySet: true},
			{Option: "format", Value: "csv", From: FromUser, File: "/home/dev/.skilltrace.yaml", Line: 12, Commands: []string{"cost"}, ProjectMaySet: true},
			{Option: "limit", Value: int64(20), From: FromProgram, Commands: []string{"sessions"}, All: true, ProjectMaySet: true},
			{Option: "quiet", Value: false, From: FromProgram, Commands: []string{"cost", "replay"}, All: true},
			{Option: "rules", From: FromProgram, Commands: []string{"replay"}, All: true, ProjectMaySet: true},
		},
		Environment: []ConfigVariable{{Name: "ANTHROPIC_API_KEY", Secret: true, What: "key with which test --scorer live asks"}, {Name: "COLUMNS", Value: "80", What: "width of tables, in cells"}},
	}
	goldenTables(t, "config", doc)
	goldenJSON(t, "config", doc)
	var back ConfigDocument
	readBack(t, doc, &back)
	goldenTables(t, "config", &back)
}

func TestCacheDocument(t *testing.T) {
	first := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	for name, doc := range map[string]*CacheDocument{
		"cache":         NewCache("/home/dev/.cache/skilltrace/live", true, 1612, 923_000, first, first.AddDate(0, 0, 20), false),
		"cache-cleared": NewCache("/srv/replies", false, 1, 523, first, first, true),
		"cache-empty":   NewCache("/srv/replies", false, 0, 0, time.Time{}, time.Time{}, false),
	} {
		goldenTables(t, name, doc)
		goldenJSON(t, name, doc)
		var back CacheDocument
		readBack(t, doc, &back)
		goldenTables(t, name, &back)
	}
}
