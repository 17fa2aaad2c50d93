#pragma once

#include <functional>
#include <istream>
#include <memory>
#include <string>
#include <vector>

#include "cli/answer.hpp"
#include "cli/command.hpp"
#include "seats/log_export.hpp"

namespace tenure::seats {

/// Who is shown logs: a licence, its entries in order, the next licence.
class LogReader {
 public:
  virtual ~LogReader() = default;
  virtual void Begin(const ExportedLicense& license) = 0;
  virtual void Add(const LogEntry& entry) = 0;
  virtual void End() = 0;
};

/// Where logs are read: a file, a server, a store.
class LogSource {
 public:
  virtual ~LogSource() = default;
  /// Shows the logs of these licences; of none: of all that there are. Throws base::UserError for
  /// one that is not there.
  virtual void Read(const std::vector<base::Uuid>& licenses, LogReader& reader) = 0;
};

/// An export. `in` must outlive it.
std::unique_ptr<LogSource> MakeFileSource(std::istream& in);

/// A server refused to be asked: the command ends with what it said.
struct RefusedLog {
  cli::Answer answer;
};
/// A server, asked with the flags of ServerFlags. Its `Read` throws RefusedLog.
/// `given` must outlive it.
std::unique_ptr<LogSource> MakeServerSource(const cli::Given& given);

/// The log of a licence grows while it is read: it is shown up to the head that was read first.
/// Reads entries by page: `next(from)` returns those from that number on, at most a page of them;
/// nothing means that there are none.
void ReadPages(const ExportedLicense& license, LogReader& reader,
               const std::function<std::vector<LogEntry>(std::int64_t from)>& next);

}  // namespace tenure::seats
