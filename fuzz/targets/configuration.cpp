// config: a configuration file, up to the values of settings.
//
// What must hold:
//  1. Whatever stands in the file, it is read or refused with problems that can be printed.
//  2. A value that a setting accepts is printed in a way that it accepts again and that means the
//     same (`config show` gives a file that works), except for secrets, which are never printed.

#include <fmt/format.h>

#include "base/utf8.hpp"
#include "config/file.hpp"
#include "target.hpp"

namespace tenure::fuzz {
namespace {

using config::Assign;

void CheckValue(const config::Given& given) {
  config::Settings settings;
  if (const auto refused = Assign(given.setting->kind, given.value, settings)) {
    TENURE_CHECK(base::IsStorableText(*refused), "a refusal cannot be printed");
    return;
  }
  TENURE_CHECK(!config::IsSecret(given.setting->kind), "a file gives a secret itself");
  // An address is printed without its password, so its value does not come back.
  if (std::holds_alternative<config::PostgresUrl>(given.setting->kind)) return;
  const std::string text = config::ValueText(given.setting->kind, settings);
  config::Settings again;
  const auto refused = Assign(given.setting->kind, text, again);
  TENURE_CHECK(!refused && config::SameValue(given.setting->kind, settings, again),
               fmt::format("{} does not survive being printed", given.setting->name));
}

}  // namespace
}  // namespace tenure::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tenure::config::Problems problems;
  tenure::config::FileJobs jobs;
  const auto values =
      tenure::config::FromYaml(tenure::fuzz::AsText(data, size), "tenure.yaml", problems, jobs);
  if (jobs)
    for (const auto& job : *jobs)
      TENURE_CHECK(tenure::base::IsStorableText(job.json) && job.json.starts_with('{'),
                   "a job is no object");
  for (const auto& given : values)
    if (!given.by_file) tenure::fuzz::CheckValue(given);
  TENURE_CHECK(problems.size() <= 2 * tenure::config::kMostProblems, "problems without end");
  for (const auto& problem : problems)
    TENURE_CHECK(tenure::base::IsStorableText(problem.where + problem.message),
                 "a problem cannot be printed");
  return 0;
}
