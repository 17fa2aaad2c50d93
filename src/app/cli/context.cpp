// `tenure context`: servers under names.

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "app/cli/commands.hpp"
#include "base/json_writer.hpp"
#include "cli/contexts.hpp"
#include "cli/question.hpp"
#include "cli/server.hpp"
#include "config/printable.hpp"

namespace tenure::app {
namespace {

using cli::Context;
using cli::Contexts;
using cli::Given;

constexpr std::size_t kMostNameBytes = 64;

std::string ContextName(const cli::Flag& flag, const std::string& text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  if (!text.empty() && text.size() <= kMostNameBytes && std::ranges::all_of(text, fits))
    return text;
  throw cli::UsageError(fmt::format("{}: {} is no context's name: 1 to {} of A-Z a-z 0-9 . _ -",
                                    flag.name, config::Quoted(text), kMostNameBytes));
}

std::string ServerAddress(const cli::Flag&, const std::string& text) {
  return cli::CheckedServer(text);
}

/// Where the file is found from any folder.
std::string Absolute(const cli::Flag& flag, const std::string& text) {
  if (text.empty()) throw cli::UsageError(fmt::format("{} names no file", flag.name));
  return std::filesystem::absolute(text).lexically_normal().string();
}

std::string_view Protected(const Context& context) {
  return context.is_protected ? "protected" : "";
}

/// How a token is come by, for people.
std::string TokenSource(const Context& context) {
  if (!context.token_file.empty()) return context.token_file;
  return context.token_command.empty() ? "" : fmt::format("$ {}", context.token_command);
}

void WriteJson(base::JsonWriter& json, const Context& context, const Contexts& contexts) {
  json.BeginObject().Field("name", std::string_view(context.name));
  json.Field("server", std::string_view(context.server));
  for (const auto& [name, value] :
       {std::pair("ca_file", &context.ca_file), std::pair("token_file", &context.token_file),
        std::pair("token_command", &context.token_command)})
    if (!value->empty()) json.Field(name, std::string_view(*value));
  json.Field("protected", context.is_protected);
  json.Field("current", context.name == contexts.current()).EndObject();
}

int Add(const Given& given, cli::Console& console) {
  if (given.Has("--token-file") && given.Has("--token-command"))
    throw cli::UsageError("give one of --token-file and --token-command");
  Contexts contexts = Contexts::Read();
  const std::string& name = given.Text("NAME");
  if (contexts.Find(name)) {
    console.err << fmt::format(
        "tenure: there is a context {} already; `tenure context remove {}` takes it away\n", name,
        name);
    return cli::kExitConflict;
  }
  contexts.Add({.name = name,
                .server = given.Text("--server"),
                .ca_file = given.Or("--ca-file", ""),
                .token_file = given.Or("--token-file", ""),
                .token_command = given.Or("--token-command", ""),
                .is_protected = given.Has("--protected")});
  contexts.Write();
  console.out << fmt::format("{} is {}{}\n", name, given.Text("--server"),
                             contexts.current() == name ? ", and asked from now on" : "");
  return cli::kExitDone;
}

int Use(const Given& given, cli::Console& console) {
  Contexts contexts = Contexts::Read();
  const Context& chosen = contexts.Get(given.Text("NAME"));
  contexts.Use(chosen.name);
  contexts.Write();
  console.out << fmt::format("{} ({}) is asked from now on\n", chosen.name, chosen.server);
  return cli::kExitDone;
}

int Remove(const Given& given, cli::Console& console) {
  Contexts contexts = Contexts::Read();
  const std::string name = contexts.Get(given.Text("NAME")).name;
  contexts.Remove(name);
  contexts.Write();
  console.out << fmt::format("{} is removed{}\n", name,
                             contexts.current().empty() ? "; no context is current" : "");
  return cli::kExitDone;
}

int List(const Given& given, cli::Console& console) {
  const Contexts contexts = Contexts::Read();
  if (given.Has("--json")) {
    std::string body;
    base::JsonWriter json(body);
    json.BeginObject().Key("items").BeginArray();
    for (const Context& context : contexts.all()) WriteJson(json, context, contexts);
    json.EndArray().EndObject();
    console.out << body << "\n";
  } else if (contexts.all().empty()) {
    console.Note("no contexts; `tenure context add NAME --server URL` makes one\n");
  } else {
    cli::TextTable table({{"CONTEXT"}, {"CURRENT"}, {"PROTECTED"}, {"SERVER"}, {"TOKEN"}});
    for (const Context& context : contexts.all())
      table.Add({context.name, context.name == contexts.current() ? "current" : "-",
                 context.is_protected ? "protected" : "-", context.server,
                 TokenSource(context).empty() ? "-" : TokenSource(context)});
    console.out << table.Text();
  }
  return cli::kExitDone;
}

int Show(const Given& given, cli::Console& console) {
  const Contexts contexts = Contexts::Read();
  const std::vector<std::string> names = given.All("NAME");
  if (names.size() > 1) throw cli::UsageError("give one NAME");
  if (names.empty() && contexts.current().empty())
    throw cli::UsageError("no context is current: give a NAME");
  const Context& context = contexts.Get(names.empty() ? contexts.current() : names.front());
  if (given.Has("--json")) {
    std::string body;
    base::JsonWriter json(body);
    WriteJson(json, context, contexts);
    console.out << body << "\n";
    return cli::kExitDone;
  }
  for (const auto& [label, value] :
       {std::pair("context", std::string(context.name)), std::pair("server", context.server),
        std::pair("ca file", context.ca_file), std::pair("token", TokenSource(context)),
        std::pair("acts", std::string(Protected(context)))})
    if (!value.empty()) console.out << fmt::format("{:<9}{}\n", label, config::Printable(value));
  return cli::kExitDone;
}

constexpr std::string_view kAddNotes =
    R"(A context is a server under a name, with where its certificates and tokens come from. The first
one is asked from then on; `tenure context use` chooses another, `--context NAME` one for a single
command. Flags go before the environment, and that goes before the context. The file
($XDG_CONFIG_HOME/tenure/contexts.yaml, else in ~/.config) never holds a token, and is refused where
others can read it.

In a protected context each command that changes something asks for the context's name, or wants
--yes; without a terminal and --yes it is refused, and nothing happens.

Examples:
  tenure context add local --server http://127.0.0.1:8080
  tenure context add prod --server https://tenure.example.com --token-command "pass show tenure" \
                          --protected
)";

cli::Flag NameArgument() {
  return cli::Argument("NAME", "The context.", ContextName).Named({"contexts"});
}
cli::Flag JsonSwitch() { return cli::Switch("--json", "Print JSON, for programs."); }

}  // namespace

cli::Commands ContextCommands() {
  using namespace cli;  // the words of its table
  return {
      {.words = "context add",
       .summary = "Give a server a name",
       .notes = std::string(kAddNotes),
       .flags = {NameArgument(), Required("--server", "URL", "Its address.", ServerAddress),
                 Value("--ca-file", "FILE", "Whose certificates count, in PEM.", Absolute),
                 Value("--token-file", "FILE", "Where its token stands.", Absolute),
                 Value("--token-command", "COMMAND", "What prints its token, for the shell."),
                 Switch("--protected", "Ask before each command that changes something.")},
       .run = Add,
       .part = Part::kShell},
      {.words = "context use",
       .summary = "Choose the server that is asked",
       .notes = "Example:\n  tenure context use prod\n",
       .flags = {NameArgument()},
       .run = Use,
       .part = Part::kShell},
      {.words = "context list",
       .summary = "List the servers that have names",
       .notes = "Example:\n  tenure context list\n",
       .flags = {JsonSwitch()},
       .run = List,
       .part = Part::kShell},
      {.words = "context show",
       .summary = "Show one context, or the current one",
       .notes = "Example:\n  tenure context show\n",
       .flags = {Arguments("NAME", "The context [the current one].", ContextName), JsonSwitch()},
       .run = Show,
       .part = Part::kShell},
      {.words = "context remove",
       .summary = "Forget a context",
       .notes = "Neither the server nor a file of a token is touched.\n\nExample:\n"
                "  tenure context remove staging\n",
       .flags = {NameArgument()},
       .run = Remove,
       .part = Part::kShell}};
}

}  // namespace tenure::app
