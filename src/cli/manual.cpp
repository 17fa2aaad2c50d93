#include "cli/manual.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include <fmt/format.h>

#include "cli/pages.hpp"
#include "cli/server.hpp"
#include "config/reference.hpp"
#include "config/table.hpp"

namespace tenure::cli {
namespace {

constexpr std::size_t kLineColumns = 76;
constexpr std::string_view kDate = "November 19, 2026";  // of the version

/// A word as mdoc takes it: a backslash begins something else there, and so does a point or an
/// apostrophe at the beginning of a line.
std::string Escaped(std::string_view word) {
  std::string text;
  for (std::size_t at = 0; at < word.size(); ++at) {
    if (word.substr(at).starts_with("…")) {
      text += "...";
      at += std::string_view("…").size() - 1;
    } else if (word[at] == '\\') {
      text += "\\e";
    } else {
      text += word[at];
    }
  }
  return text.starts_with('.') || text.starts_with('\'') ? "\\&" + text : text;
}

/// Whether a sentence ends with that word: the next one begins a line.
bool EndsSentence(std::string_view word) {
  while (word.ends_with(')') || word.ends_with('"') || word.ends_with('`') || word.ends_with(']'))
    word.remove_suffix(1);
  return word.ends_with('.') || word.ends_with('?') || word.ends_with('!');
}

/// Arguments of a macro: each is quoted, so that none is taken for a macro.
std::string Quoted(std::string_view text) {
  std::string escaped = Escaped(text);
  for (std::size_t at = 0; (at = escaped.find('"', at)) != std::string::npos; at += 2)
    escaped.insert(at, "\"");
  return '"' + escaped + '"';
}

/// The paragraphs of a command's notes. What is indented is an example: those are gathered in
/// `examples` instead.
std::string Paragraphs(std::string_view notes, std::string& examples) {
  std::string text;
  std::string paragraph;
  const auto end = [&] {
    if (!paragraph.empty()) text += (text.empty() ? "" : ".Pp\n") + MdocText(paragraph);
    paragraph.clear();
  };
  std::istringstream lines{std::string(notes)};
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line == "Example:" || line == "Examples:") {
      end();
    } else if (line.starts_with("  ")) {
      examples += Escaped(std::string_view(line).substr(2)) + "\n";
    } else {
      paragraph += (paragraph.empty() ? "" : " ") + line;
    }
  }
  end();
  return text;
}

std::string Item(const Flag& flag) {
  switch (flag.kind) {
    case Flag::Kind::kArgument:
      return fmt::format(".It Ar {}\n", Quoted(flag.name));
    case Flag::Kind::kArguments:
      return fmt::format(".It Oo Ar {} Oc Ns ...\n", Quoted(flag.name));
    case Flag::Kind::kRest:
      return fmt::format(".It Fl Fl Ar {}\n", Quoted(flag.name));
    case Flag::Kind::kSwitch:
      return fmt::format(".It Fl {}\n", Quoted(flag.name.substr(1)));
    case Flag::Kind::kMaybe:
      return fmt::format(".It Fl {}\n",
                         Quoted(fmt::format("{}[={}]", flag.name.substr(1), flag.placeholder)));
    default:
      return fmt::format(".It Fl {} Ar {}\n", Quoted(flag.name.substr(1)),
                         Quoted(flag.placeholder));
  }
}

std::string Head(std::string_view title, int section, std::string_view name,
                 std::string_view what) {
  std::string capitals(title);
  std::ranges::transform(capitals, capitals.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return fmt::format(".Dd {}\n.Dt {} {}\n.Os\n.Sh NAME\n.Nm {}\n.Nd {}\n", kDate, capitals, section,
                     name, Escaped(what));
}

std::string Dashed(std::string_view words) {
  std::string text(words);
  std::ranges::replace(text, ' ', '-');
  return text;
}

/// "lists leases" is how a manual says it; ours begin with a capital letter.
std::string Uncapitalised(std::string_view text) {
  std::string lower(text);
  if (lower.size() > 1 && std::islower(static_cast<unsigned char>(lower[1])) != 0)
    lower[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(lower[0])));
  return lower;
}

std::string Synopsis(const Command& command, const Flags& ordered) {
  std::string text = fmt::format(".Sh SYNOPSIS\n.Nm tenure {}\n", command.words);
  for (const Flag& flag : ordered) {
    if (flag.kind == Flag::Kind::kArgument)
      text += fmt::format(".Ar {}\n", Quoted(flag.name));
    else if (flag.kind == Flag::Kind::kArguments)
      text += fmt::format(".Op Ar {} ...\n", Quoted(flag.name));
    else if (flag.required)
      text += fmt::format(".Fl {} Ar {}\n", Quoted(flag.name.substr(1)), Quoted(flag.placeholder));
  }
  text += ".Op Ar flags\n";
  if (!ordered.empty() && ordered.back().kind == Flag::Kind::kRest)
    text += fmt::format(".Fl Fl\n.Ar {}\n", Quoted(ordered.back().name));
  return text;
}

constexpr std::string_view kExitStatus =
    R"(.Sh EXIT STATUS
.Bl -tag -width 130 -compact
.It 0
done
.It 1
error
.It 2
the command line or the configuration is wrong
.It 3
not found
.It 4
conflict: what is asked for is not so
.It 5
nothing answers, or it is busy: try again
.It 6
the lease was lost while the command ran
.It 7
something needs attention
.It 130
interrupted
.El
)";

constexpr std::string_view kEnvironment =
    R"(.Sh ENVIRONMENT
.Bl -tag -width TENURE_CONTEXT
.It Ev TENURE_SERVER
The server to ask.
.It Ev TENURE_CONTEXT
The context to ask, where no server is named.
.It Ev TENURE_TOKEN
The token to show.
.It Ev TENURE_CA_FILE
Whose certificates count.
.It Ev NO_COLOR
No colours.
.El
.Pp
Each setting of
.Xr tenure.yaml 5
has a variable too.
.Sh FILES
.Bl -tag -width Ds
.It Pa $XDG_CONFIG_HOME/tenure/contexts.yaml
The contexts of
.Nm tenure context ,
for their owner only.
.El
)";

constexpr std::string_view kReferenceHead =
    R"(<!-- Generated: tenure manual reference > docs/reference/commands.md -->
# Commands

What `tenure COMMAND --help` says of each command, in one page; [command-line.md](../command-line.md) tells how they are
used. `tenure manual pages FOLDER` writes the same as manual pages.

)";

}  // namespace

std::string MdocText(std::string_view text) {
  std::string lines;
  std::string line;
  std::istringstream words{std::string(text)};
  const auto end = [&] {
    if (!line.empty()) lines += Escaped(line) + "\n";
    line.clear();
  };
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > kLineColumns) end();
    line += (line.empty() ? "" : " ") + word;
    if (EndsSentence(word)) end();
  }
  end();
  return lines;
}

ManualPage ManualOf(const Command& command) {
  const Flags ordered = InOrder(command.flags);
  const std::string name = "tenure-" + Dashed(command.words);
  std::string examples;
  std::string text = Head(name, 1, name, Uncapitalised(command.summary));
  text += Synopsis(command, ordered) + ".Sh DESCRIPTION\n";
  const std::string notes = Paragraphs(command.notes, examples);
  text += notes.empty() ? MdocText(fmt::format("{}.", command.summary)) : notes;
  if (!ordered.empty()) {
    text += ".Bl -tag -width Ds\n";
    for (const Flag& flag : ordered) text += Item(flag) + MdocText(flag.does);
    text += ".El\n";
  }
  text += kExitStatus;
  if (!examples.empty()) text += ".Sh EXAMPLES\n.Bd -literal\n" + examples + ".Ed\n";
  text += ".Sh SEE ALSO\n.Xr tenure 1\n";
  return {name + ".1", text};
}

ManualPage ManualOfProgram(const Commands& commands) {
  std::string text = Head("tenure", 1, "tenure", "keep track of what is held for a while");
  text += ".Sh SYNOPSIS\n.Nm tenure\n.Ar command\n.Op Ar flags\n.Sh DESCRIPTION\n";
  text += MdocText(MainSentence());
  for (const PartTitle& part : PartTitles()) {
    text += fmt::format(".Ss {}\n.Bl -tag -width Ds\n", part.title);
    for (const Command& command : commands)
      if (command.part == part.part)
        text += fmt::format(".It Xr tenure-{} 1\n{}", Dashed(command.words),
                            MdocText(fmt::format("{}.", command.summary)));
    text += ".El\n";
  }
  text += kEnvironment;
  text += kExitStatus;
  text += ".Sh SEE ALSO\n.Xr tenure.yaml 5\n";
  return {"tenure.1", text};
}

ManualPage ManualOfSettings() {
  std::string text = Head("tenure.yaml", 5, "tenure.yaml", "settings of tenure serve");
  text += ".Sh DESCRIPTION\n";
  text += MdocText(
      "Tenure runs without a setting. What is wanted otherwise comes from this file, then from "
      "environment variables, then from flags; the later one wins. The file is the one that "
      "--config names, else TENURE_CONFIG, else ./tenure.yaml when there is one. Names that do not "
      "exist and values out of bounds are refused: `tenure config check FILE` looks for them.");
  text += ".Bl -tag -width Ds\n";
  for (const config::Setting& setting : config::Table()) {
    const std::string value = config::DefaultValue(setting);
    text += fmt::format(".It Cm {}\n", Quoted(setting.name));
    text += MdocText(setting.does);
    text += MdocText(fmt::format("When to change it: {}", setting.change_when));
    text += MdocText(fmt::format("Default: {}; takes {}.", value.empty() ? "empty" : value,
                                 config::Accepts(setting.kind)));
  }
  text += ".El\n.Sh SEE ALSO\n.Xr tenure 1\n";
  return {"tenure.yaml.5", text};
}

std::string CommandReference(const Commands& commands) {
  std::string page(kReferenceHead);
  page +=
      "Exit codes: 0 done, 1 error, 2 the command line or the configuration is wrong, 3 not "
      "found, 4 conflict,\n5 nothing answers or it is busy, 6 the lease was lost, 7 something "
      "needs attention, 130 interrupted.\n\n";
  page +=
      "Commands that ask a server also take these flags:\n\n```text\n" + CommonFlags() + "```\n";
  for (const PartTitle& part : PartTitles()) {
    page += fmt::format("\n## {}\n", part.title);
    for (const Command& command : commands) {
      if (command.part != part.part) continue;
      page += fmt::format("\n### tenure {}\n{}.", command.words, command.summary);
      if (!command.also.empty())
        page += fmt::format(" `tenure {}` is another word for it.", command.also);
      const bool has_notes = !command.notes.empty();
      page += fmt::format("\n\n```text\n{}{}{}{}```\n", OwnFlags(command), has_notes ? "\n" : "",
                          command.notes, !has_notes || command.notes.ends_with('\n') ? "" : "\n");
    }
  }
  return page;
}

}  // namespace tenure::cli
