// Whom an outgoing request believes: a server of TLS whose certificate the test makes.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/uuid.hpp"
#include "http/outgoing.hpp"

namespace tenure::http {
namespace {

using testing::HasSubstr;

struct Deleter {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* session) const { SSL_free(session); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
  void operator()(std::FILE* file) const { std::fclose(file); }
};
template <class T>
using Owned = std::unique_ptr<T, Deleter>;

void Extend(X509& certificate, int kind, const std::string& value) {
  const Owned<X509_EXTENSION> extension(X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str()));
  X509_add_ext(&certificate, extension.get(), -1);
}

/// Signed by itself, for an hour; `name` is like "IP:127.0.0.1".
Owned<X509> CertificateFor(EVP_PKEY& key, const std::string& name) {
  Owned<X509> certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3'600);
  X509_set_pubkey(certificate.get(), &key);
  X509_NAME* const subject = X509_get_subject_name(certificate.get());
  const unsigned char common[] = "tenure test";
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, common, -1, -1, 0);
  X509_set_issuer_name(certificate.get(), subject);
  Extend(*certificate, NID_subject_alt_name, name);
  Extend(*certificate, NID_basic_constraints, "critical,CA:TRUE");
  X509_sign(certificate.get(), &key, EVP_sha256());
  return certificate;
}

/// Takes one connection, reads a request, answers 204.
class TlsServer {
 public:
  explicit TlsServer(const std::string& name)
      : key_(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256")),
        certificate_(CertificateFor(*key_, name)),
        context_(SSL_CTX_new(TLS_server_method())),
        listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes also to a client that has hung up
    SSL_CTX_use_PrivateKey(context_.get(), key_.get());
    SSL_CTX_use_certificate(context_.get(), certificate_.get());
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, any, size) != 0 || ::listen(listener_, 1) != 0 ||
        ::getsockname(listener_, any, &size) != 0)
      throw std::runtime_error("no port for the test");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~TlsServer() {
    thread_.join();
    ::close(listener_);
    std::filesystem::remove(file_);
  }
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  std::string Url() const { return fmt::format("https://127.0.0.1:{}/usages", port_); }
  /// Its certificate in a file.
  std::string CaFile() {
    file_ = std::filesystem::temp_directory_path() / ("tenure-" + base::RandomHex(8) + ".pem");
    const Owned<std::FILE> file(std::fopen(file_.c_str(), "w"));
    PEM_write_X509(file.get(), certificate_.get());
    return file_;
  }

 private:
  void Serve() const {
    const int connection = ::accept(listener_, nullptr, nullptr);
    const Owned<SSL> session(SSL_new(context_.get()));
    SSL_set_fd(session.get(), connection);
    char request[4'096];
    if (SSL_accept(session.get()) == 1 && SSL_read(session.get(), request, sizeof(request)) > 0) {
      const std::string_view answer = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
      SSL_write(session.get(), answer.data(), static_cast<int>(answer.size()));
      SSL_shutdown(session.get());
    }
    ::close(connection);
  }

  const Owned<EVP_PKEY> key_;
  const Owned<X509> certificate_;
  const Owned<SSL_CTX> context_;
  const int listener_;
  std::uint16_t port_ = 0;
  std::filesystem::path file_;
  std::thread thread_;
};

OutgoingReply Post(const std::string& url, std::string ca_file) {
  Outgoing outgoing({.ca_file = std::move(ca_file)});
  outgoing.Start();
  std::promise<OutgoingReply> reply;
  outgoing.Send({.url = url, .body = "[]"},
                [&](OutgoingReply r) { reply.set_value(std::move(r)); });
  return reply.get_future().get();
}

TEST(OutgoingTls, ACertificateThatNobodySignedIsNotBelieved) {
  const TlsServer server("IP:127.0.0.1");
  const OutgoingReply reply = Post(server.Url(), "");
  EXPECT_EQ(reply.status, 0);
  EXPECT_FALSE(reply.maybe_received) << "not a byte of the request left";
  EXPECT_THAT(reply.error, HasSubstr("certificate"));
}

TEST(OutgoingTls, ACertificateOfTheGivenAuthorityIsBelieved) {
  TlsServer server("IP:127.0.0.1");
  EXPECT_EQ(Post(server.Url(), server.CaFile()).status, 204);
}

TEST(OutgoingTls, ACertificateForAnotherNameIsNotBelieved) {
  TlsServer server("DNS:other.example");
  const OutgoingReply reply = Post(server.Url(), server.CaFile());
  EXPECT_EQ(reply.status, 0);
  EXPECT_FALSE(reply.maybe_received);
}

}  // namespace
}  // namespace tenure::http
