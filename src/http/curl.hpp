#pragma once

// libcurl's handles with owners, and its calls with their results checked. For client.cpp,
// outgoing.cpp and multi_loop only.

#include <memory>
#include <string>

#include <curl/curl.h>

#include "base/error.hpp"
#include "http/message.hpp"

namespace tenure::http::curl {

struct EasyDeleter {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct MultiDeleter {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Easy = std::unique_ptr<CURL, EasyDeleter>;
using Multi = std::unique_ptr<CURLM, MultiDeleter>;
using HeaderList = std::unique_ptr<curl_slist, ListDeleter>;

/// Before any other handle.
inline Multi NewMulti() {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  TENURE_CHECK(ready == CURLE_OK, "libcurl cannot be initialised");
  Multi multi(curl_multi_init());
  TENURE_CHECK(multi != nullptr, "libcurl has no memory");
  return multi;
}

inline void Check(CURLMcode result) {
  TENURE_CHECK(result == CURLM_OK, curl_multi_strerror(result));
}

template <class Value>
void Set(const Easy& easy, CURLoption option, Value value) {
  const CURLcode result = curl_easy_setopt(easy.get(), option, value);
  TENURE_CHECK(result == CURLE_OK, curl_easy_strerror(result));
}

/// A handle as every request of ours wants it: HTTP/1.1 over http or https, no redirects, no
/// proxy, no signals. Certificates are verified, with TLS 1.2 at least; by those in `ca_file`, or
/// by the system's when it is empty.
inline Easy NewEasy(const std::string& ca_file) {
  Easy easy(curl_easy_init());
  TENURE_CHECK(easy != nullptr, "libcurl has no memory");
  Set(easy, CURLOPT_NOSIGNAL, 1L);
  Set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  Set(easy, CURLOPT_FOLLOWLOCATION, 0L);
  Set(easy, CURLOPT_PATH_AS_IS, 1L);  // a lease may be called ".."
  Set(easy, CURLOPT_PROXY, "");       // also keeps http_proxy of the environment out
  Set(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  Set(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  Set(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  Set(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (!ca_file.empty()) {
    Set(easy, CURLOPT_CAINFO, ca_file.c_str());
    Set(easy, CURLOPT_CAPATH, nullptr);  // else the system's would count too
  }
  return easy;
}

inline void Append(HeaderList& list, const std::string& line) {
  curl_slist* const longer = curl_slist_append(list.get(), line.c_str());
  TENURE_CHECK(longer != nullptr, "libcurl has no memory");
  static_cast<void>(list.release());  // it is the head of `longer`, or was null
  list.reset(longer);
}

/// `body` null: none, not even an empty one. It must outlive the transfer.
inline void SetMethod(const Easy& easy, Method method, const std::string* body) {
  TENURE_CHECK(method != Method::kOther, "the client sends methods that it knows");
  Set(easy, CURLOPT_HTTPGET, 1L);  // forgets the body of the request before
  if (body) {
    Set(easy, CURLOPT_POST, 1L);
    Set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body->size()));
    Set(easy, CURLOPT_POSTFIELDS, body->c_str());
  }
  Set(easy, CURLOPT_NOBODY, method == Method::kHead ? 1L : 0L);
  Set(easy, CURLOPT_CUSTOMREQUEST, ToText(method).data());  // literals: they end with NUL
}

inline int StatusOf(const Easy& easy) {
  long status = 0;
  curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
  return static_cast<int>(status);
}

/// Whether any byte of the request left: if not, the server cannot have seen it.
inline bool WasSent(const Easy& easy) {
  long sent_bytes = 0;
  curl_easy_getinfo(easy.get(), CURLINFO_REQUEST_SIZE, &sent_bytes);
  return sent_bytes > 0;
}

}  // namespace tenure::http::curl
