// Package skills knows skill folders: where a client looks for SKILL.md and
// command files, which of them the model may call, in what order they are
// listed and with what text. Parsing the metadata is in frontmatter, rendering
// in body.
package skills

import "slices"

// Discovery says where and how one client version finds skills. The rule tags
// are the keys of the rule tables.
type Discovery struct {
	// Sources are the places that are looked into: managed, user, project, add-dir,
	// commands, plugin and nested; none stand for all.
	Sources []string `rule:"discovery.sources"`
	// ProjectFolder is the folder of a project that holds skills/; "" for .claude.
	ProjectFolder string `rule:"discovery.project_folder"`
	// Parents: skills of the parents of the working directory count.
	Parents bool `rule:"discovery.parents"`
	// AddDirSkills and AddDirCommands: --add-dir folders count.
	AddDirSkills   bool `rule:"discovery.add_dir_skills"`
	AddDirCommands bool `rule:"discovery.add_dir_commands"`
	// AddDirScoped: a skill of an --add-dir folder whose name is taken is called
	// FOLDER:name, as one of a nested folder is (recorded at 2.1.310, not at 2.1.307).
	AddDirScoped bool `rule:"discovery.add_dir_scoped"`
	// Commands: what becomes of command files.
	Commands Commands `rule:"discovery.commands"`
	// RealFileOnce: the same real file reached twice counts once.
	RealFileOnce bool `rule:"discovery.real_file_once"`
	// NameOnce: the same name twice counts once, disabled and held-back entries apart.
	NameOnce bool `rule:"discovery.name_once"`
	// ProjectWins: of one name the project's skill counts, whatever it says; NameOnce
	// and the order in which they were found then do not matter.
	ProjectWins bool `rule:"discovery.project_wins"`
	// PluginDashes: characters of plugin skill names outside [A-Za-z0-9_-] become "-".
	PluginDashes bool `rule:"discovery.plugin_dashes"`
	// Conditional: entries with paths are held back until a file matches.
	Conditional bool `rule:"discovery.conditional"`
	// EnterActivates: a folder that becomes the working directory activates entries
	// with paths as a file does.
	EnterActivates bool `rule:"discovery.enter_activates"`
	// DescribedCommands: own commands without any description are left out.
	DescribedCommands bool `rule:"discovery.described_commands"`
	// HideBuiltins: the client's own built-in prompts are not listed.
	HideBuiltins bool `rule:"discovery.hide_builtins"`
	// Undescribed: own skills without any description are listed.
	Undescribed bool `rule:"discovery.undescribed"`
	// DropAngles: entries whose names hold < or > are dropped.
	DropAngles bool `rule:"discovery.drop_angles"`
	// Overrides: skillOverrides is honoured.
	Overrides bool `rule:"discovery.overrides"`
	// Sort is the order inside a folder.
	Sort Sort `rule:"listing.sort"`
	// OneList: all entries are one list, sorted by the bytes of their names.
	OneList bool `rule:"listing.one_list"`
	// SortNested: nested folders are sorted too where Sort is SortCollate; before,
	// they stay in readdir order (recorded at 2.1.154 to 2.1.177, sorted at 2.1.200).
	SortNested bool `rule:"listing.sort_nested"`
	// MergedCommands: user, project and add-dir commands are one sorted list.
	MergedCommands bool `rule:"listing.merged_commands"`
	// BundledFirst: the client's own skills stand before all others.
	BundledFirst bool `rule:"listing.bundled_first"`
}

// looks reports whether a place is looked into.
func (d Discovery) looks(s Source) bool {
	return len(d.Sources) == 0 || slices.Contains(d.Sources, string(s))
}

// commandFiles names the commands folders among the sources.
const commandFiles Source = "commands"

// Folder is the folder of a project that holds skills and commands.
func (d Discovery) Folder() string {
	if d.ProjectFolder == "" {
		return ".claude"
	}
	return d.ProjectFolder
}

// Commands is what becomes of command files.
type Commands string

// The possibilities.
const (
	CommandsApart   Commands = "apart"   // in a tool of their own, not listed
	CommandsListed  Commands = "listed"  // listed with the skills
	CommandsOmitted Commands = "omitted" // not listed at all (2.1.88, 2.1.89)
)

// Sort is the order of the entries of one folder.
type Sort string

// The orders.
const (
	SortBytes   Sort = "bytes"
	SortReaddir Sort = "readdir"
	SortCollate Sort = "collate"
)

// EntryText says how the text of one listing entry is made.
type EntryText struct {
	// Alias: "folder (name)" where the front matter gives another name.
	Alias bool `rule:"entry.alias"`
	// BareUndescribed: a skill without a description is listed by its name alone;
	// otherwise the first line of its body stands in.
	BareUndescribed bool `rule:"entry.bare_undescribed"`
	// Clean: control and format characters become blanks, < and > entities.
	Clean bool `rule:"entry.clean"`
	// NestedSuffix: entries of nested folders say where they apply.
	NestedSuffix bool `rule:"entry.nested_suffix"`
	// Cap is the longest text, in UTF-16 code units; 0 for none.
	Cap int `rule:"entry.cap"`
	// CapSetting: skillListingMaxDescChars is honoured.
	CapSetting bool `rule:"entry.cap_setting"`
	// ReplaceLone: half a surrogate pair is sent as U+FFFD; before, escaped as it is.
	ReplaceLone bool `rule:"entry.replace_lone"`
}
