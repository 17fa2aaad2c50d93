#include "seats/log_export.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include "base/error.hpp"
#include "base/json_writer.hpp"

namespace tenure::seats {
namespace {

namespace json = simdjson::ondemand;

/// REQUIRES: the elements are asked for in their order.
class EntryArray {
 public:
  explicit EntryArray(json::array array) : at_(array.begin()), end_(array.end()) {}

  json::value Next() {
    if (!is_first_) ++at_;
    is_first_ = false;
    if (at_ == end_) throw simdjson::simdjson_error(simdjson::INDEX_OUT_OF_BOUNDS);
    return *at_;
  }
  /// Nothing may come behind the last one.
  void End() {
    ++at_;
    if (at_ != end_) throw simdjson::simdjson_error(simdjson::INCORRECT_TYPE);
  }

 private:
  simdjson::simdjson_result<json::array_iterator> at_;
  simdjson::simdjson_result<json::array_iterator> end_;
  bool is_first_ = true;
};

base::Uuid ToUuid(json::value value) {
  const auto id = base::Uuid::Parse(std::string_view(value.get_string()));
  if (!id) throw simdjson::simdjson_error(simdjson::INCORRECT_TYPE);
  return *id;
}

std::optional<std::int64_t> IntegerOrNull(json::value value) {
  if (value.is_null()) return std::nullopt;
  return std::int64_t(value.get_int64());
}

LogEntry EntryOf(json::array array) {
  EntryArray elements(array);
  LogEntry entry;
  entry.license = ToUuid(elements.Next());
  entry.seq = elements.Next().get_int64();
  entry.at_ms = elements.Next().get_int64();
  entry.kind = std::string_view(elements.Next().get_string());
  if (json::value session = elements.Next(); !session.is_null()) entry.session = ToUuid(session);
  entry.slot = IntegerOrNull(elements.Next());
  entry.fence = IntegerOrNull(elements.Next());
  json::object detail = elements.Next().get_object();
  entry.detail = std::string_view(detail.raw_json());
  elements.End();
  return entry;
}

ExportedLicense LicenseOf(json::object object) {
  std::optional<base::Uuid> id;
  std::optional<LogHash> head;
  std::optional<std::int64_t> entries;
  for (auto field : object) {
    const std::string_view name = field.unescaped_key();
    if (name == "license_id")
      id = ToUuid(field.value());
    else if (name == "entries")
      entries = field.value().get_int64();
    else if (name == "head")
      head = ParseLogHash(std::string_view(field.value().get_string()));
    // What a later version may add says nothing about the log.
  }
  if (!id || !head || !entries) throw simdjson::simdjson_error(simdjson::NO_SUCH_FIELD);
  return {.license = *id, .head = {*entries, *head}};
}

/// Whether nothing stands behind what was read.
bool IsAtEnd(json::document& document) {
  return document.current_location().error() == simdjson::OUT_OF_BOUNDS;
}

json::parser& Parser() {
  thread_local json::parser parser;
  return parser;
}

/// Reads the whole of a text that has the parser's padding behind it.
template <class Read>
auto ReadAll(std::string_view text, const Read& read) {
  json::document document = Parser().iterate(text, text.size() + simdjson::SIMDJSON_PADDING);
  auto result = read(document);
  if (!IsAtEnd(document)) throw simdjson::simdjson_error(simdjson::TRAILING_CONTENT);
  return result;
}

// A line of an entry: {"hash":"…64…","entry":[…]}
constexpr std::string_view kHashBegins = R"({"hash":")";
constexpr std::string_view kEntryBegins = R"(","entry":)";
constexpr std::size_t kHashDigits = 64;
constexpr std::size_t kEntryAt = kHashBegins.size() + kHashDigits + kEntryBegins.size();

}  // namespace

void AppendExportLine(std::string& out, const ExportedLicense& license) {
  base::JsonWriter json(out);
  json.BeginObject()
      .Field("license_id", license.license)
      .Field("entries", license.head.seq)
      .Field("head", HexOf(license.head.hash))
      .EndObject();
  out += '\n';
}

void AppendExportLine(std::string& out, const LogEntry& entry) {
  out += R"({"hash":")";
  out += HexOf(entry.hash);
  out += R"(","entry":)";
  out += CanonicalText(entry);
  out += "}\n";
}

std::optional<ExportReader::Line> ExportReader::Next() {
  if (!NextLine()) return std::nullopt;
  try {
    // The array is cut out of its line; what is behind it serves as a part of the padding.
    line_.reserve(line_.size() + simdjson::SIMDJSON_PADDING);
    const std::string_view line = line_;
    if (!line.starts_with(kHashBegins))
      return ReadAll(line, [](json::document& read) { return LicenseOf(read.get_object()); });
    const auto hash = ParseLogHash(line.substr(kHashBegins.size(), kHashDigits));
    const bool right = hash && line.size() > kEntryAt && line.ends_with('}') &&
                       line.substr(0, kEntryAt).ends_with(kEntryBegins);
    if (!right) Refuse("it has no hash and entry");
    LogEntry entry = ReadAll(line.substr(kEntryAt, line.size() - kEntryAt - 1),
                             [](json::document& read) { return EntryOf(read.get_array()); });
    entry.hash = *hash;
    return entry;
  } catch (const simdjson::simdjson_error& error) {
    Refuse(fmt::format("it cannot be read ({})", error.what()));
  }
}

bool ExportReader::NextLine() {
  ++number_;
  line_.clear();
  while (true) {
    const std::size_t end = buffer_.find('\n', at_);
    const std::size_t stop = end == std::string::npos ? buffer_.size() : end;
    line_.append(buffer_, at_, stop - at_);
    if (line_.size() > kMaxLineBytes) Refuse("it is too long");
    if (end != std::string::npos) {
      at_ = end + 1;
      return true;
    }
    buffer_.resize(kBlockBytes);
    in_.read(buffer_.data(), static_cast<std::streamsize>(kBlockBytes));
    buffer_.resize(static_cast<std::size_t>(in_.gcount()));
    at_ = 0;
    if (in_.bad()) throw base::UserError("the export cannot be read");
    if (buffer_.empty()) return !line_.empty();
  }
}

void ExportReader::Refuse(std::string_view why) const {
  throw base::UserError(
      fmt::format("line {} is not one that `tenure seat export` writes: {}", number_, why));
}

std::optional<LogEntry> ParseEntryText(std::string_view text) {
  try {
    const simdjson::padded_string padded(text);
    return ReadAll(std::string_view(padded),
                   [](json::document& read) { return EntryOf(read.get_array()); });
  } catch (const simdjson::simdjson_error&) {
    return std::nullopt;
  }
}

}  // namespace tenure::seats
