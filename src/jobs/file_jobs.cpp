#include "jobs/file_jobs.hpp"

#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/utf8.hpp"
#include "config/printable.hpp"
#include "jobs/definition_fields.hpp"
#include "jobs/problems.hpp"
#include "server/capability.hpp"

namespace tenure::jobs {
namespace {

constexpr std::size_t kMaxTenantBytes = 255;
/// Who makes and changes jobs of the file, on record.
constexpr const char* kFilePerson = "configuration file";

/// A tenant that is a UUID has one spelling.
std::string TenantOf(const std::string& text) {
  if (const auto id = base::Uuid::Parse(text)) return id->ToString();
  return text;
}

class Reader {
 public:
  Reader(std::size_t payload_max_bytes, const calendar::Zones& zones, config::Problems& problems)
      : payload_max_bytes_(payload_max_bytes), zones_(zones), problems_(problems) {}

  void Read(const config::FileJob& entry, std::vector<ListedJob>& listed) {
    std::string body = entry.json;
    body.reserve(body.size() + http::Request::kBodyPadding);
    const std::size_t before = problems_.size();
    ListedJob job{.where = entry.where};
    try {
      http::JsonFields fields{std::string_view(body)};
      job.key.name = fields.Text("name", kMaxTenantBytes);
      job.key.tenant = TenantOf(fields.OptionalText("tenant", kMaxTenantBytes).value_or("default"));
      ReadDefinition read = ReadFields(fields, payload_max_bytes_, zones_);
      fields.Finish();
      if (!IsJobName(job.key.name))
        Note(entry, "name", fmt::format("must be 1 to {} of A-Z a-z 0-9 . _ -", kMaxNameBytes));
      if (job.key.tenant.empty()) Note(entry, "tenant", "must not be empty");
      for (const Mistake& each : read.mistakes) NoteMistake(entry, each);
      job.definition = std::move(read.definition);
    } catch (const http::ProblemError& error) {
      for (const http::FieldError& each : error.problem().errors)
        Note(entry, each.field, each.message);
      if (error.problem().errors.empty()) Note(entry, "", error.what());
    }
    if (problems_.size() != before) return;
    const auto [first, is_new] = seen_.try_emplace(job.key, entry.where);
    if (!is_new)
      return Note(entry, "name",
                  fmt::format("{} is listed twice, first at {}", job.key.name, first->second));
    listed.push_back(std::move(job));
  }

 private:
  void NoteMistake(const config::FileJob& entry, const Mistake& mistake) {
    Note(entry, mistake.field, PlacedText(mistake));
  }
  /// At the line of the field, where it has one.
  void Note(const config::FileJob& entry, const std::string& field, const std::string& message) {
    const auto found = entry.lines.find(field.substr(0, field.find_first_of(".[")));
    const int line = found == entry.lines.end() ? entry.line : found->second;
    const std::string file = entry.where.substr(0, entry.where.rfind(':'));
    problems_.push_back(
        {fmt::format("{}:{}", file, line),
         fmt::format("jobs: {}{}{}", config::Printable(field), field.empty() ? "" : " ", message),
         line});
  }

  const std::size_t payload_max_bytes_;
  const calendar::Zones& zones_;
  config::Problems& problems_;
  std::map<JobKey, std::string> seen_;
};

base::Caller CallerOf(const JobKey& key, const char* act) {
  base::Caller caller;
  caller.actor = std::make_shared<const base::Actor>(
      base::Actor{.act = act, .tenant = key.tenant, .person = kFilePerson});
  return caller;
}

JobOutcome Change(Jobs& jobs, JobCommand command, const JobKey& key, const char* act) {
  return server::Await<JobOutcome>(
      [&](auto done) { jobs.Change(std::move(command), CallerOf(key, act), std::move(done)); });
}

bool IsThere(Jobs& jobs, const JobKey& key) {
  JobsRequest look;
  look.tenant = key.tenant;
  look.name = key.name;
  look.limit = 1;
  return !server::Await<db::Page<JobView>>([&](auto done) {
            jobs.List(std::move(look), nullptr, std::move(done));
          }).rows.empty();
}

/// Which act it is must be known before (the audit has one for each); where that is no longer so by
/// then, it is done over.
JobOutcome PutListed(Jobs& jobs, const ListedJob& job) {
  while (true) {
    PutCommand put{job.key, job.definition, {}, Origin::kFile, !IsThere(jobs, job.key)};
    const char* const act = *put.is_new ? "job.create" : "job.change";
    const JobOutcome outcome = Change(jobs, std::move(put), job.key, act);
    if (outcome.kind != JobOutcome::Kind::kOtherThanSeen) return outcome;
  }
}

std::string Named(const JobKey& key) {
  return key.tenant == "default"
             ? key.name
             : fmt::format("{} of tenant {}", key.name, config::Printable(key.tenant));
}

}  // namespace

std::vector<ListedJob> ReadListed(const std::vector<config::FileJob>& entries,
                                  std::size_t payload_max_bytes, const calendar::Zones& zones,
                                  config::Problems& problems) {
  std::vector<ListedJob> listed;
  Reader reader(payload_max_bytes, zones, problems);
  for (const config::FileJob& entry : entries) {
    if (problems.size() >= config::kMostProblems) break;
    reader.Read(entry, listed);
  }
  return listed;
}

std::vector<std::string> ApplyListed(Jobs& jobs, const std::vector<ListedJob>& listed) {
  std::vector<std::string> done;
  std::set<JobKey> kept;
  for (const ListedJob& job : listed) {
    kept.insert(job.key);
    const JobOutcome outcome = PutListed(jobs, job);
    if (IsProblem(outcome.kind))
      throw base::UserError(fmt::format("{}: job {}: {}", job.where, job.key.name,
                                        ProblemOf(outcome, job.key.name).title));
    if (outcome.kind == JobOutcome::Kind::kCreated)
      done.push_back(fmt::format("Made job {}.", Named(job.key)));
    if (outcome.kind == JobOutcome::Kind::kDone)
      done.push_back(fmt::format("Changed job {}.", Named(job.key)));
  }
  for (const JobKey& key : server::Await(jobs.FindFromFile).keys) {
    if (kept.contains(key)) continue;
    const JobOutcome outcome = Change(jobs, DeleteCommand{key, Origin::kFile}, key, "job.delete");
    if (outcome.kind == JobOutcome::Kind::kDone)
      done.push_back(fmt::format("Removed job {}: the file has it no more.", Named(key)));
  }
  return done;
}

}  // namespace tenure::jobs
