#include <boost/json/serialize.hpp>

#include "everything.hpp"

namespace everything {

using namespace proteus::server;

namespace {

ResourceResult text(std::string_view mime_type, std::string body) {
  return {.contents = {{.mime_type = std::string(mime_type), .text = std::move(body)}}, .same_for_everyone = true};
}

}  // namespace

void add_resources(Server& server) {
  server
      .add_resource(
          {.uri = "test://static-text", .name = "static-text", .description = "A text", .mime_type = "text/plain"},
          [](Context&) -> Outcome<ResourceResult> {
            return text("text/plain", "This is the content of the static text resource.");
          })
      .value();
  server
      .add_resource(
          {.uri = "test://static-binary", .name = "static-binary", .description = "An image", .mime_type = "image/png"},
          [](Context&) -> Outcome<ResourceResult> {
            return ResourceResult{.contents = {{.mime_type = "image/png", .base64 = std::string(kPng)}},
                                  .same_for_everyone = true};
          })
      .value();
  server
      .add_resource({.uri = "test://watched-resource",
                     .name = "watched-resource",
                     .description = "A text that is updated by test_update_resource",
                     .mime_type = "text/plain"},
                    [](Context&) -> Outcome<ResourceResult> { return text("text/plain", "Watch me."); })
      .value();
  server
      .add_resource_template({.uri_template = "test://template/{id}/data",
                              .name = "template",
                              .description = "Data of an id",
                              .mime_type = "application/json"},
                             [](Context& context) -> Outcome<ResourceResult> {
                               const std::string id(context.variable("id"));
                               return text("application/json",
                                           boost::json::serialize(boost::json::object{
                                               {"id", id}, {"templateTest", true}, {"data", "Data for ID: " + id}}));
                             })
      .value();
}

}  // namespace everything
