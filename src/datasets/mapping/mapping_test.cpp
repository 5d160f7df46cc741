#include "datasets/mapping/mapping.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datasets/mapping/naming.hpp"
#include "datasets/mapping/ontology.hpp"
#include "datasets/testing/test_database.hpp"

namespace proteus::datasets {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> faults(std::string_view text) {
  const auto parsed = parse_mapping(text);
  std::vector<std::string> all;
  if (parsed) return all;
  for (const auto& problem : parsed.error())
    all.push_back(show("m.toml", problem));
  return all;
}

TEST(Mapping, AMappingIsReadAndWritten) {
  const auto parsed = parse_mapping(test::kCompanyMapping);
  ASSERT_TRUE(parsed);
  const Mapping& mapping = parsed->mapping;
  EXPECT_EQ(mapping.name, "acme");
  EXPECT_EQ(mapping.schema, "public");
  EXPECT_THAT(mapping.entity_types(), ElementsAre("person", "department", "project"));
  EXPECT_THAT(mapping.relationship_types(), ElementsAre("MEMBER_OF", "REPORTS_TO", "WORKS_ON"));
  EXPECT_EQ(parse_mapping(write_mapping(mapping)).value().mapping, mapping);
}

TEST(Mapping, EveryFaultIsNamedWithItsLine) {
  EXPECT_THAT(faults("[dataset]\nname = \"acme\nx"), ElementsAre(HasSubstr("m.toml:2:")));
  EXPECT_THAT(faults("[[entities]]\ntable = \"t\"\ntype = \"t\"\nid_column = \"id\"\n"),
              ElementsAre("m.toml: dataset is missing"));
  EXPECT_THAT(faults("[dataset]\nname = \"a\"\ndsn_env = \"A\"\n"), ElementsAre("m.toml: entities is missing"));
  EXPECT_THAT(
      faults("[dataset]\nname = \"acme\"\ndsn_env = \"A\"\ncolour = 1\n[[entities]]\ntable = 5\ntype = \"t\"\n"
             "id_colum = \"id\"\n"),
      ElementsAre(HasSubstr("m.toml:4:1: dataset.colour: "), HasSubstr("m.toml:5:1: entities[0]: id_column is missing"),
                  "m.toml:6:1: entities[0].table: must be a string, not a number",
                  "m.toml:8:1: entities[0].id_colum: is not a known key; did you mean id_column?"));
  const std::string head = "[dataset]\nname = \"acme\"\ndsn_env = \"A\"\n";
  const std::string entity = "[[entities]]\ntable = \"t\"\ntype = \"t\"\nid_column = \"id\"\n";
  EXPECT_THAT(faults(head + entity + entity),
              ElementsAre(HasSubstr("m.toml:9:1: entities[1].table: the table t is mapped twice")));
  // DAT-20: an end that no entity maps
  EXPECT_THAT(faults(head + entity +
                     "[[relationships]]\ntype = \"R\"\nfrom_table = \"t\"\nfrom_column = \"a\"\nto_table = \"u\"\n"
                     "to_column = \"id\"\n"),
              ElementsAre(HasSubstr("m.toml:12:1: relationships[0].to_table: the table u is not an entity")));
  EXPECT_THAT(faults(std::string((std::size_t{1} << 20U) + 1, '#')), ElementsAre(HasSubstr("over the limit")));
}

// DAT-08
TEST(Mapping, ANameMustFitIntoTheNameOfATool) {
  for (const char* name : {"../x", "postgres://x", "acme;drop", "", "a b", "a.b", "-a", "ä"}) {
    EXPECT_FALSE(check_dataset_name(name)) << name;
    EXPECT_FALSE(faults(fmt::format("[dataset]\nname = \"{}\"\ndsn_env = \"A\"\n[[entities]]\ntable = \"t\"\ntype = "
                                    "\"t\"\nid_column = \"id\"\n",
                                    name))
                     .empty())
        << name;
  }
  EXPECT_FALSE(check_dataset_name(std::string(58, 'a')));
  EXPECT_FALSE(check_dataset_name(std::string(10'000, 'a')));
  EXPECT_TRUE(check_dataset_name(std::string(57, 'a')));
  EXPECT_TRUE(check_dataset_name("acme-2_b"));
}

// Each would be written to a file that has another meaning in the directory of mappings.
TEST(Mapping, ANameMustNotBeThatOfAnotherFile) {
  EXPECT_FALSE(check_dataset_name("ontology"));
  EXPECT_FALSE(check_dataset_name("ratified"));
  EXPECT_TRUE(check_dataset_name("ratified2"));
}

TEST(Mapping, WhatASourceIsCalledCannotBreakADraft) {
  Mapping mapping{.name = "a", .dsn_env = "A"};
  mapping.entities.push_back({.table = "x\"\n[dataset]\nname = \"evil\"\\", .type = "\x01", .id_column = "\\u0041"});
  const auto parsed =
      parse_mapping(write_mapping(mapping, {.head = {"a\nname = \"evil\""}, .entities = {}, .relationships = {}}));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->mapping, mapping);
}

TEST(Ontology, EndsMustBeTypes) {
  const auto parsed = parse_ontology(
      "[[entity_types]]\nname = \"a\"\n[[relationship_types]]\nname = \"R\"\ndomain = \"a\"\nrange = \"b\"\n");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(show("o", parsed.error().front()), "o:6:1: relationship_types[0].range: b is not one of the entity types");
}

TEST(Naming, NamesAreReadAsTheyAreWritten) {
  EXPECT_THAT(words_of("SupportRepId"), ElementsAre("support", "rep", "id"));
  EXPECT_THAT(words_of("support_rep_id"), ElementsAre("support", "rep", "id"));
  EXPECT_THAT(words_of("HTTPServer2Go"), ElementsAre("http", "server2", "go"));
  EXPECT_EQ(entity_type_of("Employees"), "employee");
  EXPECT_EQ(entity_type_of("companies"), "company");
  EXPECT_EQ(entity_type_of("InvoiceLine"), "invoice_line");
  EXPECT_EQ(entity_type_of("tbl_boxes"), "box");
  EXPECT_EQ(entity_type_of("people"), "person");
  EXPECT_EQ(entity_type_of("status"), "status");
  EXPECT_EQ(entity_type_of("addresses"), "address");
  EXPECT_TRUE(looks_secret("user_password_hash"));
  EXPECT_FALSE(looks_secret("passenger"));
}

}  // namespace
}  // namespace proteus::datasets
