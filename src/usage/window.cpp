#include "usage/window.hpp"

#include <charconv>

#include <fmt/format.h>

#include "usage_sql/queries.hpp"

namespace tenure::usage {

Window ReadWindow(const db::Rows::Row& row) {
  return {.number = row.Int(0),
          .start_ms = row.Int(1),
          .end_ms = row.Int(2),
          .sealed_ms = row.Int(3),
          .incarnation = row.Int(4),
          .state = static_cast<WindowState>(row.Int(5)),
          .last_id = row.Uuid(6),
          .chunks = row.Int(7),
          .records = row.Int(8)};
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
  std::vector<std::int64_t> numbers, records, formats;
  std::vector<std::string_view> names;
  std::vector<base::Uuid> firsts, lasts;
  for (const Chunk& chunk : chunks) {
    numbers.push_back(chunk.name.number);
    names.emplace_back(chunk.name.chunk);
    firsts.push_back(chunk.first_id);
    lasts.push_back(chunk.last_id);
    records.push_back(chunk.records);
    formats.push_back(chunk.format);
  }
  tx.Queue(sql::kInsertChunks, numbers, names, firsts, lasts, records, formats);
}

Factors TakeFactors(const db::Rows& rows, std::vector<Factor>* all) {
  std::vector<Factor> factors;
  factors.reserve(rows.size());
  for (const auto row : rows)
    factors.push_back({static_cast<int>(row.Int(0)), row.Int(1), row.Int(2), row.Int(3)});
  if (all) *all = factors;
  return Factors(factors);
}

}  // namespace tenure::usage
