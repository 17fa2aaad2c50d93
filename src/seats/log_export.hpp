#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "seats/log_entry.hpp"
#include "seats/prove.hpp"

namespace tenure::seats {

// An export is the logs of some licences as lines of JSON: a line for the licence, then one for
// each entry. The array of an entry's line is byte by byte what is hashed behind the hash before,
// so a verifier in any language needs no JSON writer of its own:
//
//   {"license_id":"…","entries":5321,"head":"…"}
//   {"hash":"…","entry":["…",1,1766311200123,"LICENSE_CREATED",null,null,null,{…}]}

/// A licence whose log follows.
struct ExportedLicense {
  base::Uuid license{};
  LogHead head{};  ///< as the licence's row had it when the export began
};

void AppendExportLine(std::string& out, const ExportedLicense& license);
void AppendExportLine(std::string& out, const LogEntry& entry);

/// Reads an export, line by line. It may come from anywhere: whatever is not as above is refused.
class ExportReader {
 public:
  using Line = std::variant<ExportedLicense, LogEntry>;

  explicit ExportReader(std::istream& in) : in_(in) {}

  /// Empty at the end. Throws base::UserError that names the line.
  std::optional<Line> Next();

 private:
  /// The longest line: a checkpoint of a licence with all of its seats held.
  static constexpr std::size_t kMaxLineBytes = 32 * 1024 * 1024;
  static constexpr std::size_t kBlockBytes = 1024 * 1024;

  bool NextLine();
  [[noreturn]] void Refuse(std::string_view why) const;

  std::istream& in_;
  std::string buffer_{};
  std::size_t at_ = 0;  // in the buffer: the beginning of the next line
  std::string line_{};
  std::int64_t number_ = 0;
};

/// The entry of an array as above. Empty when it is none.
std::optional<LogEntry> ParseEntryText(std::string_view text);

}  // namespace tenure::seats
