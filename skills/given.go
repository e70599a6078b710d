package skills

import "path"

// pluginFile names a plugin, in its folder.
const pluginFile = ".claude-plugin/plugin.json"

// GivenDirs parts folders that somebody gives as folders of skills: those that hold a
// folder with SKILL.md for each skill, and those of plugins. A plugin is given by its own
// folder, or by the skills folder in it.
func GivenDirs(t Tree, dirs []string) (own, plugins []string) {
	names := func(dir string) bool {
		_, err := t.Stat(path.Join(dir, pluginFile))
		return err == nil
	}
	for _, dir := range dirs {
		switch above := path.Dir(dir); {
		case names(dir):
			plugins = append(plugins, dir)
		case path.Base(dir) == "skills" && names(above):
			plugins = append(plugins, above)
		default:
			own = append(own, dir)
		}
	}
	return own, plugins
}

// Words say why a skill is not listed; "" if it is.
func (st *Status) Words() string {
	switch st.Reason {
	case Disabled:
		return "disable-model-invocation: only the user may call it"
	case HeldBack:
		return "its paths (" + st.Detail + ") match no file that was touched by then"
	case Undescribed:
		return "it has no description"
	case AngleName:
		return "its name holds < or >"
	case Overridden:
		return "skillOverrides says " + st.Detail
	case SameName:
		return "another skill of that name wins: " + st.Detail
	case SameFile:
		return "the same file as " + st.Detail
	case SkillToolDenied:
		return "permissions deny the tool Skill"
	case CommandsUnseen:
		return "this client version does not list commands"
	case NestedShadowed:
		return "the skill of " + st.Detail + " has the name"
	}
	return string(st.Reason)
}

// Words say why a file that looks like a skill is none.
func (p *Problem) Words() string {
	switch p.Kind {
	case LooseFile:
		return "a file beside the skill folders: the client reads only NAME/SKILL.md"
	case TwoDeep:
		return "it lies one folder too deep"
	case WrongCase:
		return "the file must be named SKILL.md, in capitals"
	case NoSkillFile:
		return "the folder has no SKILL.md"
	case BrokenLink:
		return "a link that leads nowhere"
	case Unreadable:
		return "it cannot be read"
	case NotSearched:
		return "it lies in a folder that this client version does not look into"
	case WrongFolder:
		return "no client looks for skills in this folder"
	case NoPluginName:
		return "the plugin has no .claude-plugin/plugin.json with a name"
	}
	return string(p.Kind)
}
