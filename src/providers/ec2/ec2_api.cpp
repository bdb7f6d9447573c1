// SPDX-License-Identifier: Apache-2.0
// Calls of EC2's Query API: signed, limited, judged.
#include "providers/ec2/ec2_api.h"

#include <array>
#include <unordered_set>

#include <fmt/format.h>

#include "auth/aws_endpoint.h"
#include "auth/aws_sigv4.h"
#include "burst/error.h"
#include "providers/ec2/ec2_errors.h"

namespace burst::ec2 {
namespace {

struct PublishedLimit {
  std::string_view action;
  double burst, per_second;
};

/// Source: Amazon EC2 Developer Guide, "Request throttling for the Amazon EC2 API".
constexpr std::array kPublishedLimits{
    PublishedLimit{"CreateTags", 100, 10},
    PublishedLimit{"DescribeInstances", 100, 20},
    PublishedLimit{"TerminateInstances", 100, 5},
};
constexpr PublishedLimit kMutatingDefault{"", 50, 5};

/// Source: AWS's SDKs take clocks for different from some minutes on; EC2 takes signatures for five.
constexpr std::chrono::seconds kClocksAgree{240};

/// A fleet of a thousand is answered in some ten seconds; a minute is a lost connection.
constexpr std::chrono::seconds kAttemptTimeout{60};

Parameters describe_parameters(const Filters& filters, const std::string& token) {
  constexpr const char* page_size = "1000";
  Parameters parameters{{"MaxResults", page_size}};
  if (!token.empty()) parameters.emplace_back("NextToken", token);
  for (std::size_t i = 0; i < filters.size(); ++i) {
    parameters.emplace_back(fmt::format("Filter.{}.Name", i + 1), filters[i].first);
    for (std::size_t j = 0; j < filters[i].second.size(); ++j)
      parameters.emplace_back(fmt::format("Filter.{}.Value.{}", i + 1, j + 1), filters[i].second[j]);
  }
  return parameters;
}

}  // namespace

bool Ec2Api::learn_time(const HttpResponse& response) const {
  const auto date = response.date();
  if (!date) return false;
  const auto ahead = *date - std::chrono::floor<std::chrono::seconds>(clock_.now());
  if (std::chrono::abs(ahead - time_ahead_.load()) < kClocksAgree) return false;
  time_ahead_.store(ahead);
  log_.warning(
      fmt::format("EC2's clock in {} is {} s {} this host's: its time is used for signatures; see to it that "
                  "the host's clock is set (NTP)",
                  region_, std::abs(ahead.count()), ahead.count() < 0 ? "behind" : "ahead of"));
  return true;
}

Ec2Api::Ec2Api(std::string region, const std::string& profile, std::shared_ptr<auth::AwsCredentialSource> credentials,
               const Config& config, const Services& services)
    : region_(std::move(region)),
      limit_prefix_(fmt::format("ec2/{}/{}/", region_, profile)),
      endpoint_(auth::aws_endpoint("ec2", region_, services.environment)),
      credentials_(std::move(credentials)),
      config_(config),
      clock_(services.clock),
      http_(services.http),
      log_(services.log) {}

RequestLimit Ec2Api::limit(const std::string& action) const {
  RequestLimit limit{limit_prefix_ + action, kMutatingDefault.burst, kMutatingDefault.per_second};
  for (const auto& published : kPublishedLimits) {
    if (published.action == action) limit = {limit.key, published.burst, published.per_second};
  }
  if (const auto configured = config_.request_limits.find(action); configured != config_.request_limits.end()) {
    limit.burst = configured->second.first;
    limit.per_second = configured->second.second;
  }
  return limit;
}

HttpCall Ec2Api::call(const std::string& action, Parameters parameters) const {
  Parameters all{{"Action", action}, {"Version", "2016-11-15"}};
  all.insert(all.end(), std::make_move_iterator(parameters.begin()), std::make_move_iterator(parameters.end()));
  HttpCall call;
  call.request.method = "POST";
  call.request.url = endpoint_;
  call.request.headers = {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}};
  call.request.body = form_encode(all);
  call.timeout = kAttemptTimeout;
  call.limit = limit(action);
  call.sign = [this](HttpRequest& request) {
    auth::sign_aws_request(request, credentials_->get(), {region_, "ec2"},
                           std::chrono::floor<std::chrono::seconds>(clock_.now()) + time_ahead_.load());
  };
  call.judge = [this, action, refreshed = false](const HttpResponse& response) mutable -> RetryVerdict {
    const auto wrong = failure(action, response);
    if (!wrong) return {};
    switch (error_kind(wrong->code, response.status)) {
      case ErrorKind::throttled:
        return {true, {}, true};
      case ErrorKind::transient:
        return {true, {}};
      case ErrorKind::not_visible:
        // A batch that holds a vanished id would fail for ever; suspend asks for its ids one by one instead.
        return {action == "CreateTags", {}};
      case ErrorKind::credentials:
        if (!learn_time(response)) credentials_->expire();
        return {!std::exchange(refreshed, true), std::chrono::milliseconds{0}};
      default:
        return {};
    }
  };
  return call;
}

std::vector<HttpResponse> Ec2Api::send(std::vector<HttpCall> calls) const { return http_.send(std::move(calls)); }

std::vector<Instance> Ec2Api::describe_instances(std::vector<Filters> queries) const {
  const std::string action = "DescribeInstances";
  struct Page {
    std::size_t query;
    std::string token;
  };
  std::vector<Page> pages;
  for (std::size_t i = 0; i < queries.size(); ++i) pages.push_back({i, ""});
  std::vector<Instance> instances;
  std::unordered_set<std::string> seen;
  while (!pages.empty()) {
    std::vector<HttpCall> calls;
    calls.reserve(pages.size());
    for (const auto& page : pages) calls.push_back(call(action, describe_parameters(queries[page.query], page.token)));
    const auto responses = send(std::move(calls));
    std::vector<Page> next;
    for (std::size_t i = 0; i < responses.size(); ++i) {
      require(action, responses[i]);
      DescribeReply reply = parse_describe_instances(responses[i].body);
      for (auto& instance : reply.instances) {
        if (seen.insert(instance.id).second) instances.push_back(std::move(instance));
      }
      if (!reply.next_token.empty()) next.push_back({pages[i].query, reply.next_token});
    }
    pages = std::move(next);
  }
  return instances;
}

std::optional<ErrorReply> Ec2Api::failure(const std::string& action, const HttpResponse& response) const {
  constexpr int ok = 200;
  if (response.status == 0) return ErrorReply{"ConnectionError", response.transport_error, ""};
  if (response.status == ok) {
    if (is_whole(response.body, action)) return std::nullopt;
    return ErrorReply{"ServiceUnavailable", "the reply is cut or is not EC2's", ""};
  }
  if (auto error = parse_error(response.body); error && !error->code.empty()) return error;
  // A proxy's or a load balancer's page: 5xx and 429 pass, the others do not.
  constexpr int too_many = 429;
  return ErrorReply{response.status == too_many ? "Throttling" : fmt::format("HTTP{}", response.status),
                    fmt::format("HTTP status {} without an EC2 error", response.status), ""};
}

void Ec2Api::require(const std::string& action, const HttpResponse& response) const {
  const auto wrong = failure(action, response);
  if (!wrong) return;
  const std::string request = wrong->request_id.empty() ? "" : fmt::format(" (request id {})", wrong->request_id);
  throw Error(wrong->code, fmt::format("{} in {}: {}: {}{}", action, region_, wrong->code, wrong->message, request));
}

}  // namespace burst::ec2
