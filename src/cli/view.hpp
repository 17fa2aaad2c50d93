#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/question.hpp"

namespace tenure::cli {

/// A screen of `tenure top`: a list that is looked at again and again. A capability's list becomes one
/// by naming it (List::view).
struct View {
  std::string title{};            ///< "topics"
  std::string path{};             ///< of the look, with its query
  std::vector<Column> columns{};  ///< as far as they fit
  std::string items = "items";    ///< where the rows stand in the answer
  std::string kind{};             ///< of GET /api/v1/why/{kind}/{id}; empty: rows have no why
  std::string id = "name";        ///< the field that names a row
  std::string (*head)(const JsonRow& answer) = nullptr;  ///< lines above the table
};

}  // namespace tenure::cli
