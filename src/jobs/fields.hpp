#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jobs/job.hpp"

namespace tenure::jobs {

/// A definition field by field, as requests and answers have it: names and JSON values. Without the
/// payload and the headers, which may say what the audit must not.
std::vector<std::pair<std::string_view, std::string>> FieldsOf(const Definition& definition);

/// For the record: old and new values of what is different.
std::string DifferencesJson(const Definition& before, const Definition& after);

}  // namespace tenure::jobs
