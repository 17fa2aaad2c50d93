#include "usage/window.hpp"

#include <charconv>

#include <fmt/format.h>

#include "usage_sql/queries.hpp"

namespace tenure::usage {

Window ReadWindow(const db::Rows::Row& row) {
  return db::ReadAs<Window>(row, &Window::number, &Window::start_ms, &Window::end_ms,
                            &Window::sealed_ms, &Window::incarnation, &Window::state,
                            &Window::last_id, &Window::chunks, &Window::records);
}

std::optional<Window> ReadWindow(const db::Rows& rows) {
  if (rows.empty()) return std::nullopt;
  return ReadWindow(rows[0]);
}

std::string ToText(const ChunkName& name) { return fmt::format("{}-{}", name.number, name.chunk); }

std::optional<ChunkName> ParseChunkName(std::string_view text) {
  ChunkName name;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), name.number);
  const auto digits = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || digits + 1 >= text.size() || text[digits] != '-') return std::nullopt;
  name.chunk = text.substr(digits + 1);
  return name;
}

void InsertChunks(db::Transaction& tx, const std::vector<Chunk>& chunks) {
  tx.Queue(sql::kInsertChunks,
           db::Columns(chunks, db::Inside(&Chunk::name, kNameColumns), &Chunk::first_id,
                       &Chunk::last_id, &Chunk::records, &Chunk::format));
}

Factors TakeFactors(const db::Rows& rows, std::vector<Factor>* all) {
  std::vector<Factor> factors;
  factors.reserve(rows.size());
  for (const auto row : rows)
    factors.push_back(db::ReadAs<Factor>(row, &Factor::kind, &Factor::from_ms, &Factor::millionths,
                                         &Factor::set_ms));
  if (all) *all = factors;
  return Factors(factors);
}

}  // namespace tenure::usage
