#include "seats/log_source.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <simdjson.h>

#include "cli/server.hpp"

namespace tenure::seats {
namespace {

namespace json = simdjson::ondemand;
using cli::Answer;
using cli::JsonRow;

constexpr std::int64_t kPageEntries = 1'000;

/// What a file has, in its order.
class FileSource final : public LogSource {
 public:
  explicit FileSource(std::istream& in) : in_(in) {}

  void Read(const std::vector<base::Uuid>& licenses, LogReader& reader) override {
    const std::set<base::Uuid> wanted(licenses.begin(), licenses.end());
    std::set<base::Uuid> found;
    ExportReader lines(in_);
    const bool all = wanted.empty();
    std::optional<base::Uuid> present;
    const auto end = [&] {
      if (present && (all || wanted.contains(*present))) reader.End();
    };
    while (auto line = lines.Next()) {
      if (const auto* license = std::get_if<ExportedLicense>(&*line)) {
        end();
        present = license->license;
        if (!found.insert(license->license).second)
          throw base::UserError(
              fmt::format("the export has the licence {} twice", license->license.ToString()));
        if (all || wanted.contains(*present)) reader.Begin(*license);
        continue;
      }
      if (!present) throw base::UserError("the export does not begin with a licence");
      if (all || wanted.contains(*present)) reader.Add(std::get<LogEntry>(*line));
    }
    end();
    for (const base::Uuid& id : wanted)
      if (!found.contains(id))
        throw base::UserError(fmt::format("the export has no licence {}", id.ToString()));
  }

 private:
  std::istream& in_;
};

// ---- a server

std::optional<std::int64_t> IntegerOrNone(json::value value) {
  if (value.is_null()) return std::nullopt;
  return std::int64_t(value.get_int64());
}

std::optional<base::Uuid> IdOrNone(json::value value) {
  if (value.is_null()) return std::nullopt;
  return base::Uuid::Parse(std::string_view(value.get_string()));
}

LogEntry ItemOf(json::object object, const base::Uuid& license) {
  LogEntry entry;
  entry.license = license;
  for (auto field : object) {
    const std::string_view name = field.unescaped_key();
    json::value value = field.value();
    if (name == "seq")
      entry.seq = value.get_int64();
    else if (name == "at_ms")
      entry.at_ms = value.get_int64();
    else if (name == "kind")
      entry.kind = std::string_view(value.get_string());
    else if (name == "session_id")
      entry.session = IdOrNone(value);
    else if (name == "slot")
      entry.slot = IntegerOrNone(value);
    else if (name == "fence")
      entry.fence = IntegerOrNone(value);
    else if (name == "detail")  // byte by byte as it came: it is hashed
      entry.detail = std::string_view(json::object(value.get_object()).raw_json());
    else if (name == "hash")
      entry.hash = ParseLogHash(std::string_view(value.get_string())).value_or(LogHash{});
  }
  return entry;
}

std::vector<LogEntry> EntriesOf(const Answer& answer, const base::Uuid& license) {
  try {
    json::parser parser;
    const simdjson::padded_string body(answer.body);
    json::document page = parser.iterate(body);
    std::vector<LogEntry> entries;
    for (auto item : page["items"].get_array())
      entries.push_back(ItemOf(item.get_object(), license));
    return entries;
  } catch (const simdjson::simdjson_error& error) {
    throw cli::NotUnderstood(error.what());
  }
}

ExportedLicense HeadOf(const JsonRow& row) {
  const JsonRow log = JsonRow::Parse(row.Text("log"));
  const auto id = base::Uuid::Parse(row.Text("id"));
  const auto hash = ParseLogHash(log.Text("head"));
  if (!id || !hash) throw cli::NotUnderstood("a licence without an id or a head");
  const std::int64_t last = log.Number("first") + log.Number("entries") - 1;
  return {.license = *id, .head = {last, *hash}};
}

class ServerSource final : public LogSource {
 public:
  explicit ServerSource(const cli::Given& given) : server_(given) {}

  void Read(const std::vector<base::Uuid>& licenses, LogReader& reader) override {
    for (const base::Uuid& id : licenses.empty() ? All() : licenses) {
      const std::string path = fmt::format("/api/v1/licenses/{}", id.ToString());
      const ExportedLicense license = HeadOf(JsonRow::Parse(Ask(path).body));
      ReadPages(license, reader, [&](std::int64_t from) {
        return EntriesOf(Ask(fmt::format("{}/log?limit={}&from={}", path, kPageEntries, from)), id);
      });
    }
  }

 private:
  Answer Ask(const std::string& path) {
    Answer answer = server_.Ask(http::Method::kGet, path);
    if (!answer.ok()) throw RefusedLog{std::move(answer)};
    return answer;
  }

  std::vector<base::Uuid> All() {
    std::vector<base::Uuid> ids;
    std::string cursor;
    do {
      const std::string query = cursor.empty() ? "" : "&cursor=" + cli::PercentEncoded(cursor);
      const JsonRow page = JsonRow::Parse(Ask("/api/v1/licenses?limit=1000" + query).body);
      for (const std::string& item : page.Items("items"))
        if (const auto id = base::Uuid::Parse(JsonRow::Parse(item).Text("id"))) ids.push_back(*id);
      std::string next = page.Text("next_cursor");
      if (!next.empty() && next == cursor)
        throw base::UserError("the server's list does not come to an end");
      cursor = std::move(next);
    } while (!cursor.empty());
    return ids;
  }

  cli::Server server_;
};

}  // namespace

std::unique_ptr<LogSource> MakeFileSource(std::istream& in) {
  return std::make_unique<FileSource>(in);
}

std::unique_ptr<LogSource> MakeServerSource(const cli::Given& given) {
  return std::make_unique<ServerSource>(given);
}

void ReadPages(const ExportedLicense& license, LogReader& reader,
               const std::function<std::vector<LogEntry>(std::int64_t from)>& next) {
  reader.Begin(license);
  for (std::int64_t from = 1; from <= license.head.seq;) {
    const std::vector<LogEntry> page = next(from);
    std::int64_t last = 0;
    for (const LogEntry& entry : page) {
      last = std::max(last, entry.seq);
      if (entry.seq <= license.head.seq) reader.Add(entry);
    }
    if (last < from) break;  // there are no more: the head will not be reached
    from = last + 1;
  }
  reader.End();
}

}  // namespace tenure::seats
