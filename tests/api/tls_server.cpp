#include "api/tls_server.hpp"

#include "support/raw_http.hpp"
#include "support/tls_client.hpp"

namespace tenure::api {

TlsServer::TlsServer(const std::vector<std::string>& settings) : process_(Options(settings)) {}

support::ServerOptions TlsServer::Options(const std::vector<std::string>& settings) {
  Renew();
  Write("authority.pem", authority_.pem());
  support::ServerOptions options;
  options.flags = {"--set", "tls.certificate=" + File("certificate.pem"), "--set",
                   "tls.key=" + File("key.pem")};
  for (const std::string& setting : settings)
    options.flags.insert(options.flags.end(), {"--set", setting});
  return options;
}

std::string TlsServer::Write(const std::string& name, const std::string& text) const {
  support::ReplaceFile(File(name), text);
  return File(name);
}

void TlsServer::Renew() {
  const support::Certificate made = authority_.Issue();
  Write("certificate.pem", made.certificate);
  Write("key.pem", made.key);
}

std::int64_t TlsServer::Served() const {
  const support::HttpConnection line(process_.Port());
  return support::TlsClient(line.fd(), {.authority = authority_.pem()}).PeerSerial();
}

}  // namespace tenure::api
