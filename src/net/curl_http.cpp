// SPDX-License-Identifier: Apache-2.0
// HttpClient over libcurl's multi interface.
#include "net/curl_http.h"

#include <mutex>
#include <utility>
#include <vector>

#include <curl/curl.h>

#include "burst/error.h"
#include "net/curl_exchange.h"
#include "net/network_settings.h"

namespace burst::net {
namespace {

/// Once in a process, at the first request: a program that sends nothing pays nothing.
void initialise_curl() {
  static const CURLcode kResult = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (kResult != CURLE_OK) throw Error("NetworkError", std::string("libcurl: ") + curl_easy_strerror(kResult));
}

/// Each send() takes an engine of its own, so that threads and nested calls do not meet; what it leaves behind in
/// connections serves the next one.
class CurlHttp : public HttpClient {
 public:
  CurlHttp(CurlHttpSettings settings, Clock& clock, Random& random, const Environment& environment, Log& log)
      : settings_(std::move(settings)), clock_(clock), random_(random), environment_(environment), log_(log) {}

  std::vector<HttpResponse> send(std::vector<HttpCall> calls) override {
    if (calls.empty()) return {};
    initialise_curl();
    const auto network = read_network_settings(environment_);
    Lease lease(*this);
    CurlExchange exchange({settings_, clock_, random_, log_, buckets_}, *lease.engine, network, std::move(calls));
    return exchange.run();
  }

 private:
  struct Lease {
    explicit Lease(CurlHttp& owner) : http(owner) {
      const std::lock_guard lock(http.mutex_);
      if (http.idle_.empty()) {
        engine = std::make_unique<CurlEngine>();
      } else {
        engine = std::move(http.idle_.back());
        http.idle_.pop_back();
      }
    }
    ~Lease() {
      const std::lock_guard lock(http.mutex_);
      http.idle_.push_back(std::move(engine));
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    CurlHttp& http;
    std::unique_ptr<CurlEngine> engine;
  };

  const CurlHttpSettings settings_;
  Clock& clock_;
  Random& random_;
  const Environment& environment_;
  Log& log_;
  TokenBuckets buckets_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<CurlEngine>> idle_;
};

}  // namespace

std::unique_ptr<HttpClient> make_curl_http(const CurlHttpSettings& settings, Clock& clock, Random& random,
                                           const Environment& environment, Log& log) {
  return std::make_unique<CurlHttp>(settings, clock, random, environment, log);
}

}  // namespace burst::net
