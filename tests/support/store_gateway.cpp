#include "support/store_gateway.hpp"

#include <poll.h>
#include <strings.h>

#include <algorithm>
#include <array>

#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace tenure::support {
namespace {

bool IsOneOf(const std::string& name, std::initializer_list<const char*> names) {
  return std::ranges::any_of(names,
                             [&](const char* one) { return strcasecmp(one, name.c_str()) == 0; });
}

std::string LowerCased(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string UrlDecoded(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      plain += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

}  // namespace

StoreGateway::StoreGateway(int store_port, std::string authority_pem, Authority& authority,
                           Check check)
    : store_port_(store_port),
      trusted_{.authority = std::move(authority_pem)},
      check_(std::move(check)),
      receiver_(authority, [this](const ReceivedRequest& request) { return Answer(request); }) {}

void StoreGateway::Interfere(Interference interference) {
  const std::lock_guard lock(mutex_);
  interference_ = std::move(interference);
}

void StoreGateway::AddHeader(std::string name, std::string value) {
  const std::lock_guard lock(mutex_);
  added_.emplace_back(std::move(name), std::move(value));
}

std::vector<std::string> StoreGateway::refused() const {
  const std::lock_guard lock(mutex_);
  return refused_;
}

std::string StoreGateway::Bytes(const HttpResponse& response) {
  std::string headers;
  for (const auto& [name, value] : response.headers)
    if (!IsOneOf(name, {"Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive"}))
      headers += name + ": " + value + "\r\n";
  return TlsReceiver::Http(response.status, headers, response.body);
}

std::string StoreGateway::Answer(const ReceivedRequest& request) {
  try {
    if (const std::string why = check_ ? check_(request) : ""; !why.empty()) {
      const std::lock_guard lock(mutex_);
      refused_.push_back(why);
      return TlsReceiver::Http(401, "", R"({"code":"Unauthorized","message":"wrong signature"})");
    }
    const auto interference = [&] {
      const std::lock_guard lock(mutex_);
      return interference_;
    }();
    const auto forward = [&] { return Ask(request); };
    return interference ? interference(request, forward) : Bytes(forward());
  } catch (const std::exception&) {
    return TlsReceiver::kReset;  // the store is gone, or answers nonsense
  }
}

HttpResponse StoreGateway::Ask(const ReceivedRequest& request) {
  HttpHeaders headers;
  for (const auto& [name, value] : request.headers)
    if (!IsOneOf(name, {"Host", "Content-Length", "Connection"})) headers.emplace_back(name, value);
  std::unique_ptr<HttpConnection> connection;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, value] : added_)
      if (!request.FindHeader(name)) headers.emplace_back(name, value);
    while (!connection && !idle_.empty()) {
      connection = std::move(idle_.back());
      idle_.pop_back();
      // The store has hung up, or says something that nobody asked for.
      pollfd look{connection->fd(), POLLIN, 0};
      if (poll(&look, 1, 0) != 0) connection.reset();
    }
  }
  if (!connection)
    connection = std::make_unique<HttpConnection>(store_port_, std::chrono::seconds(20), &trusted_);
  HttpResponse response = connection->Call(request.method, request.target, request.body, headers);
  const std::lock_guard lock(mutex_);
  if (LowerCased(response.Header("Connection")) != "close") idle_.push_back(std::move(connection));
  return response;
}

std::string WhyNotSignedForCosmos(const ReceivedRequest& request, const std::string& key) {
  const std::string date = request.FindHeader("x-ms-date").value_or("");
  if (date.empty()) return "no x-ms-date";
  // The resource: what was asked for, or, where the path ends with a kind, what holds that kind.
  std::vector<std::string> steps;
  const std::string path = request.target.substr(0, request.target.find('?'));
  for (std::size_t at = 1; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    steps.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  std::string type;
  std::string link;
  if (steps.size() % 2 == 1) {
    type = steps.back();
    steps.pop_back();
  } else if (!steps.empty()) {
    type = steps[steps.size() - 2];
  }
  for (const std::string& step : steps) link += (link.empty() ? "" : "/") + step;
  const std::string text =
      LowerCased(request.method) + "\n" + type + "\n" + link + "\n" + LowerCased(date) + "\n\n";
  std::array<unsigned char, EVP_MAX_MD_SIZE> code{};
  unsigned size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), code.data(), &size);
  std::string base64(4 * ((size + 2) / 3) + 1, '\0');
  base64.resize(static_cast<std::size_t>(EVP_EncodeBlock(
      reinterpret_cast<unsigned char*>(base64.data()), code.data(), static_cast<int>(size))));
  const std::string wanted = "type=master&ver=1.0&sig=" + base64;
  const std::string given = UrlDecoded(request.FindHeader("Authorization").value_or(""));
  return given == wanted ? "" : "wrong signature of " + request.method + " " + request.target;
}

}  // namespace tenure::support
