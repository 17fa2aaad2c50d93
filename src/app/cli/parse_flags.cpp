// The one file that knows CLI11: it takes long to compile and its error messages need translation.
#include "app/cli/parse_flags.hpp"

#include <algorithm>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/usage_error.hpp"
#include "config/printable.hpp"
#include "config/suggest.hpp"

namespace tenure::app {
namespace {

/// Declares everything to CLI11 and returns what must be given.
std::vector<CLI::Option*> Declare(CLI::App& app, const Flags& flags) {
  std::vector<CLI::Option*> required;
  for (const Flags::Argument& argument : flags.arguments())
    required.push_back(app.add_option(std::string(argument.name), *argument.target));
  for (const Flags::Value& value : flags.values()) {
    const auto take = [&value](const std::vector<std::string>& given) {
      if (given.size() > 1) throw UsageError(fmt::format("{} is given twice", value.name));
      *value.target = given.front();
    };
    CLI::Option* option =
        app.add_option_function<std::vector<std::string>>(std::string(value.name), take);
    option->allow_extra_args(false);
    if (value.need == Flags::Need::kRequired) required.push_back(option);
  }
  for (const Flags::List& list : flags.lists())
    app.add_option(std::string(list.name), *list.target)->allow_extra_args(false);
  for (const Flags::Switch& one : flags.switches())
    app.add_flag(std::string(one.name), *one.target);
  return required;
}

/// Moves what stands behind the first `--` to its target, when the command takes that.
void TakeRest(const Flags& flags, std::vector<std::string>& arguments) {
  if (!flags.rest()) return;
  const auto dashes = std::ranges::find(arguments, "--");
  if (dashes == arguments.end()) return;
  flags.rest()->target->assign(dashes + 1, arguments.end());
  arguments.erase(dashes, arguments.end());
}

/// CLI11 would name the first one only.
void RequireAll(const std::vector<CLI::Option*>& required, const Flags& flags) {
  std::vector<std::string> missing;
  for (const CLI::Option* option : required)
    if (option->count() == 0) missing.push_back(option->get_name());
  if (flags.rest() && flags.rest()->target->empty())
    missing.push_back(fmt::format("-- {}", flags.rest()->name));
  if (missing.empty()) return;
  throw UsageError(
      fmt::format("{} {} missing", fmt::join(missing, ", "), missing.size() == 1 ? "is" : "are"));
}

std::vector<std::string> Names(const Flags& flags) {
  std::vector<std::string> names{"--help"};
  for (const Flags::Value& value : flags.values()) names.emplace_back(value.name);
  for (const Flags::List& list : flags.lists()) names.emplace_back(list.name);
  for (const Flags::Switch& one : flags.switches()) names.emplace_back(one.name);
  return names;
}

/// What was left over: a flag that does not exist, or one argument too many.
std::string Unexpected(const std::vector<std::string>& rest, const Flags& flags) {
  const std::string& first = rest.empty() ? std::string() : rest.front();
  if (!first.starts_with('-'))
    return fmt::format("{} is one argument too many", config::Quoted(first));
  const std::string name = first.substr(0, first.find('='));
  const std::optional<std::string> near = config::Nearest(name, Names(flags));
  return fmt::format("there is no flag {}{}", config::Printable(name),
                     near ? fmt::format("; did you mean {}?", *near) : "");
}

}  // namespace

Parsed ParseFlags(const Flags& flags, std::vector<std::string> arguments) {
  CLI::App app;
  const std::vector<CLI::Option*> required = Declare(app, flags);
  TakeRest(flags, arguments);
  std::ranges::reverse(arguments);  // CLI11 takes them from the back
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    return Parsed::kHelp;
  } catch (const CLI::ExtrasError&) {
    throw UsageError(Unexpected(app.remaining(), flags));
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string_view text = error.what();  // "--user: 1 required TEXT missing"
    throw UsageError(fmt::format("{} needs a value", text.substr(0, text.find(':'))));
  } catch (const CLI::ParseError& error) {
    throw UsageError(config::Printable(error.what()));
  }
  RequireAll(required, flags);
  return Parsed::kRun;
}

}  // namespace tenure::app
