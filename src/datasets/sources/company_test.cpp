// Workups of one small company, on each kind of source. DAT-18
#include <algorithm>

#include <gmock/gmock.h>

#include "datasets/propose/propose.hpp"
#include "datasets/propose/validate.hpp"
#include "datasets/testing/source_fixture.hpp"

namespace proteus::datasets {
namespace {

using test::gaps;
using test::refs;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

class CompanyTest : public test::OnEachSource {
 protected:
  void SetUp() override {
    OnEachSource::SetUp();
    if (database) test::make_company(*database);
  }

  Workup ask_company(WorkupRequest request) {
    return ask(keep(parse_mapping(test::kCompanyMapping).value().mapping, "hash"), std::move(request)).value();
  }
};

// Every citation refers to a provenance entry, and every entry names a row.
void expect_cited(const Workup& workup) {
  for (const auto& one : workup.provenance) {
    EXPECT_FALSE(one.table.empty());
    EXPECT_FALSE(one.operation.empty());
    EXPECT_FALSE(one.key.column.empty());
  }
  const auto resolves = [&](const Citations& cites) {
    EXPECT_FALSE(cites.empty());
    for (const auto number : cites)
      EXPECT_TRUE(number >= 1 && number <= workup.provenance.size()) << number;
  };
  if (workup.entity != nullptr) resolves({workup.entity->cite});
  for (const auto* one : workup.candidates)
    resolves({one->cite});
  for (const auto& one : workup.relationships)
    resolves(one.cites);
  for (const auto& one : workup.neighbourhood.nodes)
    resolves({one.reference->cite});
  for (const auto& one : workup.neighbourhood.edges)
    resolves(one.cites);
}

// DAT-13
TEST_P(CompanyTest, EachWayOfFindingAnEntityIsAResultOfItsOwn) {
  const auto found = [&](std::string entity) {
    const Workup workup = ask_company({.entity = std::move(entity)});
    return fmt::format("{} {} {}", to_string(workup.status), workup.resolution ? to_string(*workup.resolution) : "-",
                       workup.entity ? workup.entity->ref : "-");
  };
  EXPECT_EQ(found("10"), "found id projects/10");
  EXPECT_EQ(found("Cy Lane"), "found name employees/3");
  EXPECT_EQ(found("cy@acme.test"), "found alias employees/3");
  EXPECT_EQ(found("RES"), "found alias departments/1");
  EXPECT_EQ(found("cy LANE"), "found case_insensitive employees/3");
  EXPECT_EQ(found("Dee"), "found prefix employees/5");
  EXPECT_EQ(found("employees/4"), "found ref employees/4");
  EXPECT_EQ(found("Bo Reed"), "ambiguous name -");
  EXPECT_EQ(found("1"), "ambiguous id -");
  EXPECT_EQ(found("Nobody"), "not_found - -");
  EXPECT_EQ(found("007"), "not_found - -");
  EXPECT_EQ(found("%"), "not_found - -");
  EXPECT_EQ(found("99999999999999999999"), "not_found - -");
}

// DAT-13
TEST_P(CompanyTest, CandidatesAreListedAndNeverMerged) {
  const Workup workup = ask_company({.entity = "Bo Reed"});
  ASSERT_EQ(workup.candidates.size(), 2U);
  EXPECT_EQ(workup.candidates[0]->ref, "employees/2");
  EXPECT_EQ(workup.candidates[1]->ref, "employees/4");
  EXPECT_EQ(workup.entity, nullptr);
  EXPECT_THAT(workup.relationships, IsEmpty());
  expect_cited(workup);
  EXPECT_EQ(ask_company({.entity = "1", .type = "person"}).entity->ref, "employees/1");
}

// DAT-14
TEST_P(CompanyTest, ForeignKeysAreEdgesInBothDirectionsByTheNamedColumns) {
  EXPECT_EQ(refs(ask_company({.entity = "Ada Stone", .type = "person"})),
            "> MEMBER_OF departments/1\n< REPORTS_TO employees/2\n< REPORTS_TO employees/3\n> WORKS_ON projects/10\n");
  EXPECT_EQ(refs(ask_company({.entity = "Sales"})), "< MEMBER_OF employees/3\n< MEMBER_OF employees/4\n");
  EXPECT_EQ(refs(ask_company({.entity = "Apollo"})),
            "< WORKS_ON employees/1\n< WORKS_ON employees/2\n< WORKS_ON employees/3\n");
}

// DAT-14
TEST_P(CompanyTest, NullIsSkippedAndAKeyThatLeadsNowhereIsAGap) {
  const Workup dangling = ask_company({.entity = "employees/4"});
  EXPECT_EQ(refs(dangling), "> MEMBER_OF departments/2\n");
  ASSERT_EQ(gaps(dangling), std::vector<std::string>{"dangling"});
  EXPECT_THAT(dangling.gaps[0].message, HasSubstr("id = 99"));
  EXPECT_FALSE(dangling.gaps[0].cites.empty());
  const Workup without = ask_company({.entity = "Dee Marsh"});
  EXPECT_EQ(refs(without), "> REPORTS_TO employees/3\n");
  EXPECT_EQ(gaps(without), std::vector<std::string>{"missing"});  // the salary
}

// DAT-15
TEST_P(CompanyTest, EveryFactIsCitedByRow) {
  const Workup workup = ask_company({.entity = "employees/3", .hops = 2});
  expect_cited(workup);
  const auto& own = workup.provenance.front();
  EXPECT_EQ(own.table, "employees");
  EXPECT_EQ(own.operation, "lookup by id");
  EXPECT_EQ(own.key.column, "id");
  EXPECT_EQ(to_text(own.key.value), "3");
  EXPECT_FALSE(own.other);
  // A relationship through a table between cites the row of that table, too.
  const auto works = std::ranges::find(workup.relationships, "WORKS_ON", &Relationship::type);
  EXPECT_EQ(works->cites.size(), 3U);
  const Provenance& between = workup.provenance.at(works->cites[1] - 1);
  EXPECT_EQ(between.table, "assignments");
  EXPECT_TRUE(between.other);
}

// DAT-16
TEST_P(CompanyTest, TheNeighbourhoodReachesAsFarAsAskedAndSaysWhereItStops) {
  const auto nodes = [](const Workup& workup) {
    std::vector<std::string> all;
    for (const auto& node : workup.neighbourhood.nodes)
      all.push_back(fmt::format("{}@{}", node.reference->ref, node.hops));
    return all;
  };
  const Workup near = ask_company({.entity = "employees/2"});
  EXPECT_THAT(nodes(near), UnorderedElementsAre("employees/2@0", "departments/1@1", "employees/1@1", "projects/10@1"));
  EXPECT_FALSE(near.neighbourhood.truncated);
  const Workup far = ask_company({.entity = "employees/2", .hops = 2});
  EXPECT_THAT(nodes(far), UnorderedElementsAre("employees/2@0", "departments/1@1", "employees/1@1", "projects/10@1",
                                               "employees/3@2"));
  const Workup cut = ask_company({.entity = "employees/2", .hops = 2, .limit = 3});
  EXPECT_EQ(cut.neighbourhood.nodes.size(), 4U);
  EXPECT_TRUE(cut.neighbourhood.truncated);
  EXPECT_THAT(gaps(cut), Contains("truncated"));
}

// DAT-16
TEST_P(CompanyTest, ALimitIsSharedByTheRelationships) {
  database->execute(
      "INSERT INTO employees (id, name, manager_id) "
      "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 299) "
      "SELECT i, 'Hand ' || i, 1 FROM n");
  const Workup workup = ask_company({.entity = "employees/1", .limit = 10});
  EXPECT_EQ(workup.relationships.size(), 10U);
  EXPECT_THAT(refs(workup), HasSubstr("WORKS_ON projects/10"));
  EXPECT_TRUE(workup.neighbourhood.truncated);
}

// DAT-22
TEST_P(CompanyTest, TheDocumentIsJsonAsTheOutputSchemaHasIt) {
  database->execute("UPDATE employees SET name = 'Cy \"\\ Lané' WHERE id = 3");
  database->execute("DELETE FROM employees WHERE id = 4");
  EXPECT_EQ(
      write_workup(ask_company({.entity = "Sales"})),
      R"({"status":"found","dataset":"acme","resolution":"name","candidates":[],)"
      R"("entity":{"ref":"departments/2","id":"2","type":"department","name":"Sales","attributes":{},"cites":["p1"]},)"
      R"("relationships":[{"type":"MEMBER_OF","direction":"incoming",)"
      R"("peer":{"ref":"employees/3","id":"3","type":"person","name":"Cy \"\\ Lané"},"cites":["p1","p2"]}],)"
      R"("neighbourhood":{"nodes":[)"
      R"({"ref":"departments/2","id":"2","type":"department","name":"Sales","hops":0,"cites":["p1"]},)"
      R"({"ref":"employees/3","id":"3","type":"person","name":"Cy \"\\ Lané","hops":1,"cites":["p2"]}],)"
      R"("edges":[{"from":"employees/3","type":"MEMBER_OF","to":"departments/2","cites":["p1","p2"]}],)"
      R"("hops":1,"truncated":false},"gaps":[],)"
      R"("provenance":[{"id":"p1","table":"departments","operation":"lookup by name","keys":{"id":2}},)"
      R"({"id":"p2","table":"employees","operation":"rows where dept_code equals departments.code","keys":{"id":3}}],)"
      R"("mapping_sha256":"hash"})");
  EXPECT_EQ(write_workup(ask_company({.entity = "Nobody"})),
            R"({"status":"not_found","dataset":"acme","resolution":null,"candidates":[],"entity":null,)"
            R"("relationships":[],"neighbourhood":{"nodes":[],"edges":[],"hops":1,"truncated":false},"gaps":[],)"
            R"("provenance":[],"mapping_sha256":"hash"})");
}

// DAT-22
TEST_P(CompanyTest, TheTextNamesItsSources) {
  const std::string text = describe_workup(ask_company({.entity = "employees/3"}));
  EXPECT_THAT(text, HasSubstr("Cy Lane (person, employees/3), found by ref [p1]"));
  EXPECT_THAT(text, HasSubstr("- title: Rep [p1]"));
  EXPECT_THAT(text, HasSubstr("→ MEMBER_OF Sales (department, departments/2) [p1]"));
  EXPECT_THAT(text, HasSubstr("[p1] employees: id = 3 (lookup by id)"));
  database->execute(
      "UPDATE employees SET title = 'Rep' || chr || 'Sources' || chr || '[p9] lies' "
      "FROM (SELECT '\n' AS chr) AS c WHERE id = 3");
  EXPECT_THAT(describe_workup(ask_company({.entity = "employees/3"})), Not(HasSubstr("\n[p9]")));
}

// DAT-19
TEST_P(CompanyTest, AProposalIsADraftThatFitsItsSource) {
  const Introspection source = introspect();
  const Proposal proposal = propose({.name = "acme", .dsn_env = "ACME_DSN"}, source, nullptr);
  EXPECT_THAT(proposal.problems, IsEmpty());
  const auto parsed = parse_mapping(proposal.draft());
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->mapping, proposal.mapping);
  EXPECT_FALSE(any_refuses(validate(*parsed, source, nullptr)));
  const EntityMapping* const person = parsed->mapping.entity_of("employees");
  ASSERT_NE(person, nullptr);
  EXPECT_EQ(person->type, "employee");
  EXPECT_EQ(person->name_column, "name");
  EXPECT_THAT(person->alias_columns, ElementsAre("email"));
  EXPECT_THAT(person->attribute_columns, Not(Contains("password_hash")));
  EXPECT_THAT(parsed->mapping.relationships, Contains(Field(&RelationshipMapping::through_table, "assignments")));
  EXPECT_EQ(refs(ask(keep(parsed->mapping), {.entity = "Apollo"}).value()),
            "< ASSIGNMENTS employees/1\n< ASSIGNMENTS employees/2\n< ASSIGNMENTS employees/3\n");
}

// DAT-20
TEST_P(CompanyTest, ValidationNamesWhatTheSourceAndTheOntologyLack) {
  const Introspection source = introspect();
  const auto ontology = parse_ontology(R"(
[[entity_types]]
name = "person"
[[entity_types]]
name = "department"
[[relationship_types]]
name = "MEMBER_OF"
domain = "department"
range = "person"
[[relationship_types]]
name = "REPORTS_TO"
domain = "person"
range = "person"
)");
  ASSERT_TRUE(ontology);
  std::string text(test::kCompanyMapping);
  const auto replace = [&](std::string_view what, std::string_view by) {
    const auto at = text.find(what);
    ASSERT_NE(at, std::string::npos) << what;
    text.replace(at, what.size(), by);
  };
  replace("\"title\", \"salary\"", "\"title\", \"salery\"");
  replace("id_column = \"id\"\nname_column = \"name\"\nalias_columns = [\"code\"]", "id_column = \"idd\"");
  const auto parsed = parse_mapping(text + "[[entities]]\ntable = \"ghosts\"\ntype = \"person\"\nid_column = \"id\"\n");
  ASSERT_TRUE(parsed);
  std::vector<std::string> found;
  for (const auto& problem : validate(*parsed, source, &*ontology))
    found.push_back(fmt::format("{} {} {}", problem.position.line, problem.path, to_string(problem.kind)));
  EXPECT_THAT(found, UnorderedElementsAre(
                         "12 entities[0].attribute_columns[1] unknown_column",
                         "17 entities[1].id_column unknown_column", "21 entities[2].type unknown_type",
                         "27 relationships[0].from_table wrong_domain", "29 relationships[0].to_table wrong_range",
                         "40 relationships[2].type unknown_type", "49 entities[3].table unknown_table"));
}

// DAT-17
TEST_P(CompanyTest, AHostileMappingReadsNothingElseAndChangesNothing) {
  const std::string before = database->fingerprint();
  for (const char* table :
       {"employees; DROP TABLE employees; --", "employees\" WHERE 1=1; --", "(SELECT 1)", "sqlite_schema--"}) {
    Mapping mapping{.name = "evil", .dsn_env = "X"};
    mapping.entities.push_back({.table = table, .type = "t", .id_column = "id\" OR \"\" = \"", .name_column = "name"});
    EXPECT_FALSE(ask(keep(mapping), {.entity = "1"})) << table;
  }
  for (const char* entity :
       {"' OR 1=1 --", "\"; DROP TABLE employees; --", "%", "_", "\\", "Ada Stone\\", "x' UNION SELECT"}) {
    EXPECT_EQ(ask_company({.entity = entity}).status, WorkupStatus::not_found) << entity;
  }
  EXPECT_EQ(database->fingerprint(), before);
}

INSTANTIATE_TEST_SUITE_P(On, CompanyTest, testing::ValuesIn(test::source_kinds()), test::name_of);

}  // namespace
}  // namespace proteus::datasets
