// The one file that knows CLI11: it takes long to compile and its error messages need translation.
#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/flags.hpp"
#include "config/printable.hpp"

namespace tenure::cli {
namespace {

using Kind = Flag::Kind;
using Texts = std::vector<std::string>;

/// Declares a flag to CLI11, which puts what was given into `given`.
void Declare(CLI::App& app, const Flag& flag, Given& given) {
  const std::string name(flag.name);
  const auto take_one = [&flag, &given](const std::string& text) { given.Set(flag.name, {text}); };
  const auto take_all = [&flag, &given](const Texts& texts) {
    if ((flag.kind == Kind::kValue || flag.kind == Kind::kMaybe) && texts.size() > 1)
      throw UsageError(fmt::format("{} is given twice", flag.name));
    given.Set(flag.name, texts);
  };
  if (flag.kind == Kind::kSwitch)
    app.add_flag_callback(name, [take_one] { take_one(""); });
  else if (flag.kind == Kind::kArgument)
    app.add_option_function<std::string>(name, take_one);
  else
    app.add_option_function<Texts>(name, take_all)->allow_extra_args(flag.kind == Kind::kArguments);
}

/// Takes what stands behind the first `--`, when the command takes that.
void TakeRest(const Flag& flag, Texts& arguments, Given& given) {
  const auto dashes = std::ranges::find(arguments, "--");
  if (dashes == arguments.end()) return;
  if (dashes + 1 != arguments.end()) given.Set(flag.name, Texts(dashes + 1, arguments.end()));
  arguments.erase(dashes, arguments.end());
}

/// "--watch" is "--watch=2s".
void FillIn(const Flag& flag, Texts& arguments) {
  const auto dashes = std::ranges::find(arguments, "--");
  std::replace(arguments.begin(), dashes, std::string(flag.name),
               fmt::format("{}={}", flag.name, flag.placeholder));
}

/// CLI11 would name the first one only.
void RequireAll(const Flags& flags, const Given& given) {
  Texts missing;
  for (const Flag& flag : flags)
    if ((flag.required || flag.kind == Kind::kArgument) && !given.Has(flag.name))
      missing.emplace_back(flag.name);
  for (const Flag& flag : flags)
    if (flag.kind == Kind::kRest && !given.Has(flag.name))
      missing.push_back(fmt::format("-- {}", flag.name));
  if (missing.empty()) return;
  throw UsageError(
      fmt::format("{} {} missing", fmt::join(missing, ", "), missing.size() == 1 ? "is" : "are"));
}

void CheckAll(const Flags& flags, Given& given) {
  for (const Flag& flag : flags) {
    if (!flag.check || !given.Has(flag.name)) continue;
    Texts texts = given.All(flag.name);
    for (std::string& text : texts) text = flag.check(flag, text);
    given.Set(flag.name, std::move(texts));
  }
}

/// What was left over: a flag that does not exist, or one argument too many.
std::string Unexpected(const Texts& rest, const Flags& flags) {
  const std::string& first = rest.empty() ? std::string() : rest.front();
  if (!first.starts_with('-'))
    return fmt::format("{} is one argument too many", config::Quoted(first));
  Texts names{"--help"};
  for (const Flag& flag : flags)
    if (flag.name.starts_with("--")) names.emplace_back(flag.name);
  const std::string name = first.substr(0, first.find('='));
  const std::optional<std::string> near = config::Nearest(name, names);
  return fmt::format("there is no flag {}{}", config::Printable(name),
                     near ? fmt::format("; did you mean {}?", *near) : "");
}

}  // namespace

std::optional<Given> ParseFlags(const Flags& flags, Texts arguments) {
  CLI::App app;
  Given given;
  for (const Flag& flag : flags)
    if (flag.kind == Kind::kRest)
      TakeRest(flag, arguments, given);
    else
      Declare(app, flag, given);
  for (const Flag& flag : flags)
    if (flag.kind == Kind::kMaybe) FillIn(flag, arguments);
  std::ranges::reverse(arguments);  // CLI11 takes them from the back
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    return std::nullopt;
  } catch (const CLI::ExtrasError&) {
    throw UsageError(Unexpected(app.remaining(), flags));
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string_view text = error.what();  // "--user: 1 required TEXT missing"
    throw UsageError(fmt::format("{} needs a value", text.substr(0, text.find(':'))));
  } catch (const CLI::ParseError& error) {
    throw UsageError(config::Printable(error.what()));
  }
  RequireAll(flags, given);
  CheckAll(flags, given);
  return given;
}

}  // namespace tenure::cli
