// SPDX-License-Identifier: Apache-2.0
// The `filter` parameter of list calls. Syntax: google.aip.dev/160, and the description of `filter` in
// cloud.google.com/compute/docs/reference/rest/v1/instances/list.
#include "gce/filter.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <regex>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "gce/api_description.h"
#include "gce/failure.h"
#include "gce/names.h"

namespace cloudsim::gce {

namespace {

using Json = nlohmann::json;

struct Token {
  enum class Kind { word, text, comparison, open, close, end };
  Kind kind = Kind::end;
  std::string text;
};

class Lexer {
 public:
  explicit Lexer(const std::string& text) : text_(text) {}

  std::vector<Token> all() {
    std::vector<Token> out;
    while (true) {
      out.push_back(next());
      if (out.back().kind == Token::Kind::end) {
        return out;
      }
    }
  }

 private:
  Token next() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) {
      ++at_;
    }
    if (at_ == text_.size()) {
      return {};
    }
    const char c = text_[at_];
    if (c == '(' || c == ')') {
      ++at_;
      return {c == '(' ? Token::Kind::open : Token::Kind::close, std::string(1, c)};
    }
    if (c == '"' || c == '\'') {
      return quoted(c);
    }
    for (const std::string_view symbol : {"!=", "<=", ">=", "=", "<", ">", ":"}) {
      if (std::string_view(text_).substr(at_).starts_with(symbol)) {
        at_ += symbol.size();
        return {Token::Kind::comparison, std::string(symbol)};
      }
    }
    const auto from = at_;
    while (at_ < text_.size() && std::string_view(" \t\n()\"'=<>!:").find(text_[at_]) == std::string_view::npos) {
      ++at_;
    }
    if (from == at_) {
      throw invalid_field("filter", text_, "Invalid list filter expression.");
    }
    return {Token::Kind::word, text_.substr(from, at_ - from)};
  }

  Token quoted(char quote) {
    std::string out;
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
      }
      out += text_[at_];
    }
    if (at_ == text_.size()) {
      throw invalid_field("filter", text_, "Invalid list filter expression.");
    }
    ++at_;
    return {Token::Kind::text, out};
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

const Json* field_of(const Json& resource, const std::vector<std::string>& path) {
  const Json* at = &resource;
  for (const auto& name : path) {
    if (!at->is_object()) {
      return nullptr;
    }
    const auto found = at->find(name);
    if (found == at->end()) {
      return nullptr;
    }
    at = &*found;
  }
  return at;
}

std::string text_of(const Json* value) {
  if (value == nullptr) {
    return "";
  }
  return value->is_string() ? value->get<std::string>() : value->dump();
}

std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = !text.empty() && result.ec == std::errc{} && result.ptr == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

/// -1, 0, 1: as numbers, as times, else as texts.
int compare(const std::string& left, const std::string& right) {
  const auto sign = [](const auto& a, const auto& b) { return a < b ? -1 : (b < a ? 1 : 0); };
  if (const auto a = number_of(left), b = number_of(right); a && b) {
    return sign(*a, *b);
  }
  if (const auto a = parse_timestamp(left), b = parse_timestamp(right); a && b) {
    return sign(*a, *b);
  }
  return sign(left, right);
}

bool fits(const std::string& symbol, const std::string& value, const std::string& wanted) {
  const int order = compare(value, wanted);
  if (symbol == "<" || symbol == "<=") {
    return order < 0 || (order == 0 && symbol == "<=");
  }
  return order > 0 || (order == 0 && symbol == ">=");
}

class Parser {
 public:
  Parser(const std::string& text, const Message& fields) : text_(text), fields_(fields), tokens_(Lexer(text).all()) {}

  Filter whole() {
    auto out = expression();
    // The two kinds of expressions cannot be mixed.
    if (peek().kind != Token::Kind::end || (regular_ && plain_)) {
      refuse();
    }
    return out;
  }

 private:
  [[noreturn]] void refuse() const { throw invalid_field("filter", text_, "Invalid list filter expression."); }

  const Token& peek() const { return tokens_[at_]; }
  Token take() { return peek().kind == Token::Kind::end ? peek() : tokens_[at_++]; }
  bool take_word(std::string_view word) {
    const bool is_it = peek().kind == Token::Kind::word && peek().text == word;
    at_ += is_it ? 1 : 0;
    return is_it;
  }

  Filter expression() {
    auto out = factor();
    while (peek().kind != Token::Kind::end && peek().kind != Token::Kind::close) {
      take_word("AND");
      out = [left = std::move(out), right = factor()](const Json& resource) {
        return left(resource) && right(resource);
      };
    }
    return out;
  }

  Filter factor() {
    auto out = term();
    while (take_word("OR")) {
      out = [left = std::move(out), right = term()](const Json& resource) { return left(resource) || right(resource); };
    }
    return out;
  }

  Filter term() {
    if (take_word("NOT")) {
      return [inner = term()](const Json& resource) { return !inner(resource); };
    }
    if (peek().kind != Token::Kind::open) {
      return restriction();
    }
    take();
    auto out = expression();
    if (take().kind != Token::Kind::close) {
      refuse();
    }
    return out;
  }

  std::vector<std::string> path() {
    const auto token = take();
    if (token.kind != Token::Kind::word) {
      refuse();
    }
    std::vector<std::string> out;
    for (const auto part : split(token.text, '.')) {
      out.emplace_back(part);
    }
    if (fields_.count(out.front()) == 0) {
      refuse();
    }
    return out;
  }

  Filter restriction() {
    auto field = path();
    if (const bool negated = peek().text == "ne";
        peek().kind == Token::Kind::word && (negated || peek().text == "eq")) {
      take();
      regular_ = true;
      return matching(std::move(field), literal(), negated);
    }
    const auto symbol = take();
    if (symbol.kind != Token::Kind::comparison) {
      refuse();
    }
    plain_ = true;
    const bool bare = peek().kind == Token::Kind::word;
    auto wanted = literal();
    if (symbol.text == ":" && bare && wanted == "*") {
      return [field = std::move(field)](const Json& resource) { return field_of(resource, field) != nullptr; };
    }
    if (symbol.text == ":" && bare && wanted.ends_with('*')) {
      wanted.pop_back();
      return [field = std::move(field), wanted](const Json& resource) {
        return text_of(field_of(resource, field)).starts_with(wanted);
      };
    }
    if (symbol.text == ":") {
      return [field = std::move(field), wanted](const Json& resource) {
        return text_of(field_of(resource, field)).find(wanted) != std::string::npos;
      };
    }
    if (symbol.text == "=" || symbol.text == "!=") {
      return [field = std::move(field), wanted, equal = symbol.text == "="](const Json& resource) {
        return (text_of(field_of(resource, field)) == wanted) == equal;
      };
    }
    return [field = std::move(field), wanted, symbol = symbol.text](const Json& resource) {
      const auto* const value = field_of(resource, field);
      return value != nullptr && fits(symbol, text_of(value), wanted);
    };
  }

  // A value such as 2026-01-31T04:05:06Z has colons: they belong to it.
  std::string literal() {
    auto token = take();
    if (token.kind != Token::Kind::word && token.kind != Token::Kind::text) {
      refuse();
    }
    while (token.kind == Token::Kind::word && peek().text == ":" && tokens_[at_ + 1].kind == Token::Kind::word) {
      take();
      token.text += ":" + take().text;
    }
    return token.text;
  }

  Filter matching(std::vector<std::string> field, const std::string& expression, bool negated) const {
    try {
      return [field = std::move(field), pattern = std::regex(expression), negated](const Json& resource) {
        return std::regex_match(text_of(field_of(resource, field)), pattern) != negated;
      };
    } catch (const std::regex_error&) {
      refuse();
    }
  }

  const std::string& text_;
  const Message& fields_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  bool regular_ = false, plain_ = false;  ///< seen: eq or ne; another comparison
};

}  // namespace

Filter parse_filter(const std::string& text, const std::string& message) {
  if (text.empty()) {
    return [](const Json&) { return true; };
  }
  return Parser(text, compute_v1().messages.at(message)).whole();
}

}  // namespace cloudsim::gce
