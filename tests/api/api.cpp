#include "api/api.hpp"

#include <cstdio>
#include <random>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "api/openapi.hpp"

namespace tenure::api {

using support::HttpResponse;

std::string NewUuid() {
  thread_local std::mt19937_64 random(std::random_device{}());
  const auto high = random();
  const auto low = random();
  char text[37];
  std::snprintf(text, sizeof text, "%08x-%04x-4%03x-a%03x-%012llx",
                static_cast<unsigned>(high >> 32), static_cast<unsigned>(high >> 16 & 0xFFFF),
                static_cast<unsigned>(high & 0xFFF), static_cast<unsigned>(low >> 48 & 0xFFF),
                static_cast<unsigned long long>(low & 0xFFFFFFFFFFFF));
  return text;
}

Key NewKey() { return {NewUuid(), NewUuid(), NewUuid()}; }

std::string PutBody(const Key& key, int kind) {
  return R"({"userObjectId":")" + key.user + R"(","tenantObjectId":")" + key.tenant +
         R"(","capacityId":")" + key.capacity + R"(","sessionKind":)" + std::to_string(kind) + "}";
}

HttpResponse Api::Call(std::string_view method, std::string_view target, std::string_view body,
                       const support::HttpHeaders& headers) const {
  support::HttpHeaders all = headers;
  if (!token_.empty()) all.emplace_back("Authorization", "Bearer " + token_);
  HttpResponse response = support::Call(port_, method, target, body, all);
  ExpectDocumented(method, target, response);
  return response;
}

void ExpectDocumented(std::string_view method, std::string_view target,
                      const HttpResponse& response) {
  for (const std::string& complaint : OpenApi::OfTheSource().Complaints(method, target, response))
    ADD_FAILURE() << method << " " << target << " -> " << response.status << ": " << complaint
                  << "\n"
                  << response.body;
}

void ExpectProblem(const HttpResponse& response, int status) {
  EXPECT_EQ(response.status, status) << response.body;
  for (const std::string& complaint : OpenApi::OfTheSource().ProblemComplaints(response))
    ADD_FAILURE() << response.status << ": " << complaint << "\n" << response.body;
}

std::string ProblemType(const HttpResponse& response) {
  const std::string type = response.Json()["type"].Text();
  return type.substr(type.rfind(':') + 1);
}

Fields FieldsOf(const HttpResponse& response) {
  EXPECT_EQ(response.status, 400) << response.body;
  Fields fields;
  if (response.status == 400 && response.Json().Has("errors"))
    for (const support::Json& error : response.Json()["errors"].Elements()) {
      fields.insert(error["field"].Text());
      EXPECT_NE(error["message"].Text(), "");
    }
  return fields;
}

std::string LongText(std::size_t size) { return '"' + std::string(size, 'x') + '"'; }

WaitingCall::WaitingCall(const Api& api, std::string path, const std::string& body)
    : path_(std::move(path)), connection_(api.port(), std::chrono::seconds(90)) {
  connection_.Send(support::FormatRequest(api.port(), "POST", path_, body));
}

HttpResponse WaitingCall::Answer() {
  HttpResponse response = connection_.ReadResponse();
  ExpectDocumented("POST", path_, response);
  return response;
}

void Eventually(const std::string& what, const std::function<bool()>& holds,
                std::chrono::seconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline)
      throw std::runtime_error("it did not come to pass that " + what);
    // Leaves the processor to the servers that we wait for; nothing depends on its length.
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

std::string TimeText(std::int64_t ms) {
  using namespace std::chrono;
  const sys_time<milliseconds> instant{milliseconds(ms)};
  const auto midnight = floor<days>(instant);
  const year_month_day date(midnight);
  const hh_mm_ss time(instant - midnight);
  char text[40];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
                static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()),
                static_cast<int>(time.subseconds().count()));
  return text;
}

std::int64_t TimeMs(const std::string& text) {
  using namespace std::chrono;
  int year_number = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int millisecond = 0;
  unsigned month_number = 0;
  unsigned day_number = 0;
  if (std::sscanf(text.c_str(), "%4d-%2u-%2uT%2d:%2d:%2d.%3dZ", &year_number, &month_number,
                  &day_number, &hour, &minute, &second, &millisecond) != 7)
    throw std::runtime_error("not a time with milliseconds: " + text);
  const sys_days date = year_month_day(year(year_number), month(month_number), day(day_number));
  return duration_cast<milliseconds>(date.time_since_epoch() + hours(hour) + minutes(minute) +
                                     seconds(second) + milliseconds(millisecond))
      .count();
}

std::int64_t WallMs() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

std::int64_t Metric(const Api& api, const std::string& name) {
  std::istringstream lines(api.Get("/metrics").body);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(name + " ")) return std::stoll(line.substr(name.size() + 1));
  // A series with labels begins with its first event.
  if (name.find('{') != std::string::npos) return 0;
  throw std::runtime_error("there is no metric " + name);
}

ProgramResult RunTenure(std::vector<std::string> arguments,
                        std::vector<std::pair<std::string, std::string>> environment) {
  const support::TempDir dir;
  arguments.insert(arguments.begin(), support::TenureBinary());
  support::Process process({.argv = std::move(arguments),
                            .environment = std::move(environment),
                            .working_dir = dir.path(),
                            .output = dir / "out",
                            .error_output = dir / "err"});
  const int exit_code = process.Wait();
  return {exit_code, support::ReadFile(dir / "out"), support::ReadFile(dir / "err")};
}

}  // namespace tenure::api
