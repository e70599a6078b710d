package why

import "testing"

// A line that hardly stands anywhere else tells of a skill, an everyday one does not.
func TestRare(t *testing.T) {
	for line, want := range map[string]bool{
		"npm run db:migrate -- --env":                   true,
		"python tools/report.py --week 12":              true,
		"terraform apply -var-file=prod.tfvars":         true,
		"git log --since='1 week ago' --format='%h %s'": true,
		"git status":                      false,
		"git diff origin/main...HEAD":     false,
		"git log --oneline -10":           false,
		"npm test":                        false,
		"npm run build":                   false,
		"cargo build --release":           false,
		"pip install -r requirements.txt": false,
		"ls -la .claude/skills":           false,
		"docker compose up -d":            false,
		"go test ./...":                   false,
		"":                                false,
	} {
		if got := rare(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
	for line, want := range map[string]bool{
		"sh scripts/up.sh":                                     true,
		"python ./scripts/up.py --dry-run":                     true,
		`bash "/home/dev/.claude/skills/db-migrate/bin/up.sh"`: true,
		"sh tools/up.sh":                                       false, "cat /home/dev/skills/other/x": false, "ls scripts/": false,
	} {
		if got := ownFile(line, "kit:db-migrate"); got != want {
			t.Errorf("%q is a file of the skill: %v", line, got)
		}
	}
}
