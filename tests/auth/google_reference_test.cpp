// SPDX-License-Identifier: Apache-2.0
// Google's own library sends the same requests as we do, and believes our assertions.
#include "auth/google_metadata_server.h"
#include "auth/percent_encoding.h"
#include "botocore_reference.h"
#include "google_fixture.h"

namespace burst::auth {
namespace {

class GoogleLikeItsOwnLibrary : public GoogleWorld {
 protected:
  json theirs(const std::string& question, const json& one) {
    auto with_time = one;
    with_time["now"] = now();
    const auto answers = ask_reference("google_reference.py", question, json::array({with_time}));
    return answers.is_array() && answers.size() == 1 ? answers[0] : json::object();
  }
  static json form_of(const std::string& body) {
    auto form = json::object();
    for (std::size_t begin = 0; begin < body.size();) {
      const auto end = std::min(body.find('&', begin), body.size());
      const auto equals = body.find('=', begin);
      form[decode_query_value(body.substr(begin, equals - begin))] =
          decode_query_value(body.substr(equals + 1, end - equals - 1));
      begin = end + 1;
    }
    return form;
  }
  /// The last request that we sent, in the form of the reference's.
  json ours() {
    const auto& request = world_.http.requests.back();
    json headers = json::object();
    for (const auto& [name, value] : request.headers) {
      std::string key = name;
      if (key == "Content-Type") key = "content-type";
      if (key == "Metadata-Flavor") key = "metadata-flavor";
      headers[key] = value;
    }
    return {{"url", request.url}, {"method", request.method}, {"headers", headers}, {"form", form_of(request.body)}};
  }
  json read(const std::string& assertion) {
    const std::unique_ptr<BIO, decltype(&BIO_free_all)> bio(BIO_new(BIO_s_mem()), BIO_free_all);
    PEM_write_bio_PUBKEY(bio.get(), rsa_key().key.get());
    std::string pem(static_cast<std::size_t>(BIO_pending(bio.get())), '\0');
    BIO_read(bio.get(), pem.data(), static_cast<int>(pem.size()));
    return theirs("read", {{"assertion", assertion}, {"public_key", pem}});
  }
};

TEST_F(GoogleLikeItsOwnLibrary, SignsForAServiceAccount) {
  answer(kTokenUri, 200, token_json("t"));
  fetch(service_account());
  auto our_request = ours();
  auto their_request = theirs("ask", {{"credentials", service_account()}});
  const auto our_assertion = read(our_request["form"]["assertion"]);
  EXPECT_EQ(our_assertion, read(their_request["form"]["assertion"]));
  EXPECT_EQ(our_assertion["claims"]["exp"], now() + 3600);
  our_request["form"].erase("assertion");
  their_request["form"].erase("assertion");
  EXPECT_EQ(our_request, their_request);
}

TEST_F(GoogleLikeItsOwnLibrary, RefreshesAUsersToken) {
  answer(kTokenUri, 200, token_json("t"));
  fetch(authorized_user());
  auto their_request = theirs("ask", {{"credentials", authorized_user()}});
  their_request["url"] = kTokenUri;  // Debian's version still asks accounts.google.com
  EXPECT_EQ(ours(), their_request);
}

TEST_F(GoogleLikeItsOwnLibrary, AsksTheMetadataServer) {
  metadata("t");
  std::string note;
  fetch_google_metadata_token(world_.services(), note);
  EXPECT_EQ(ours(), theirs("ask", {{"credentials", {{"type", "metadata"}}}}));
}

}  // namespace
}  // namespace burst::auth
