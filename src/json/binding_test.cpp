#include "json/binding.hpp"

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace proteus::json {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

enum class Colour { red, green };

struct Door {
  std::string key_env;
  Secret key;

  friend bool operator==(const Door&, const Door&) = default;
};

struct House {
  std::string name = {};
  int floors = 2;
  bool lit = false;
  std::chrono::milliseconds rest = 5min;
  std::chrono::milliseconds pause{0};
  ByteSize attic = kibibytes(16);
  Colour colour = Colour::red;
  std::optional<bool> heated = {};
  std::vector<std::string> rooms = {};
  std::map<std::string, std::string> notes = {};
  Door door = {};
  std::vector<Door> cupboards = {};

  friend bool operator==(const House&, const House&) = default;
};

Result<> short_key(std::string_view key) {
  if (key.size() > 8) return std::unexpected(errors::invalid("is too long for a note"));
  return {};
}

const Binding<Door>& door_binding() {
  static const Binding<Door> binding{
      field("key_env", &Door::key_env, text(), "The variable that holds the key."),
      field("key", &Door::key, secret("key_env"), "The key itself."),
  };
  return binding;
}

const Binding<House>& house_binding() {
  static const Binding<House> binding{
      field("name", &House::name, text({.max_bytes = 8}), "What it is called.").required(),
      field("floors", &House::floors, integer<int>(1, 200), "How high it is."),
      field("lit", &House::lit, boolean(), "Whether light is on."),
      field("rest", &House::rest, duration(), "How long it sleeps."),
      field("pause", &House::pause, duration(Zero::allowed), "How long it waits."),
      field("attic", &House::attic, size(ByteSize(1), mebibytes(1)), "What fits under the roof."),
      field("colour", &House::colour, choice<Colour>({{"red", Colour::red}, {"green", Colour::green}}), "Outside."),
      field("heated", &House::heated, optional(boolean()), "Inside.").by_default("in winter"),
      field("rooms", &House::rooms, list(text(), "strings", {.most = 3}), "All of them."),
      field("notes", &House::notes, map(text(), "strings", short_key), "By name."),
      field("door", &House::door, table(door_binding()), "In front."),
      field("cupboards", &House::cupboards, list(table(door_binding()), "tables"), "Inside."),
  };
  return binding;
}

struct Read {
  House house;
  std::vector<std::string> faults;  // "path: message"
  std::vector<std::string> pointers;
};

Read read(std::string_view text, House base = {}, Secrets secrets = Secrets::refused) {
  Faults faults;
  Read out{.house = std::move(base), .faults = {}, .pointers = {}};
  house_binding().read(boost::json::parse({text.data(), text.size()}), out.house, Place(faults, secrets));
  for (const Fault& fault : faults.all()) {
    out.faults.push_back(fault.path + ": " + fault.message);
    out.pointers.push_back(fault.pointer);
  }
  return out;
}

constexpr std::string_view kHouse = R"({"name": "hut", "floors": 1, "lit": true, "rest": "1h30m", "pause": "0s",
    "attic": "1KiB", "colour": "green", "heated": false, "rooms": ["a", "b"], "notes": {"x": "y"},
    "door": {"key_env": "KEY"}, "cupboards": [{"key_env": "A"}, {}]})";

TEST(Binding, ReadsEveryKindOfKey) {
  const auto [house, faults, pointers] = read(kHouse);
  EXPECT_THAT(faults, IsEmpty());
  EXPECT_EQ(house.name, "hut");
  EXPECT_EQ(house.floors, 1);
  EXPECT_TRUE(house.lit);
  EXPECT_EQ(house.rest, 90min);
  EXPECT_EQ(house.attic, kibibytes(1));
  EXPECT_EQ(house.colour, Colour::green);
  EXPECT_EQ(house.heated, false);
  EXPECT_THAT(house.rooms, ElementsAre("a", "b"));
  EXPECT_EQ(house.notes.at("x"), "y");
  EXPECT_EQ(house.door.key_env, "KEY");
  EXPECT_EQ(house.cupboards.size(), 2U);
}

TEST(Binding, WritesWhatIsReadBackTheSame) {
  const House house = read(kHouse).house;
  EXPECT_TRUE(read(boost::json::serialize(house_binding().write(house))).house == house);
  const auto difference = house_binding().write_difference(house, House{.name = "hut", .floors = 1});
  EXPECT_FALSE(difference.contains("name"));
  EXPECT_FALSE(difference.contains("floors"));
  EXPECT_TRUE(difference.contains("rest"));
  House again{.name = "hut", .floors = 1};
  Faults faults;
  auto with_name = difference;
  with_name.emplace("name", "hut");
  house_binding().read(with_name, again, Place(faults));
  EXPECT_TRUE(faults.empty());
  EXPECT_TRUE(again == house);
}

TEST(Binding, ReportsEveryFaultWithItsPlace) {
  const auto [house, faults, pointers] =
      read(R"({"name": "much too long", "floors": 0, "lit": 1, "rest": "0s", "pause": 5, "attic": "2MiB",
               "colour": "blue", "heated": "no", "rooms": ["a", 2], "notes": {"far too long": "x", "a/b": 1},
               "door": [], "cupboards": [{}, {"key_evn": "A"}], "flors": 3, "x\ny": 1})");
  EXPECT_THAT(faults,
              ElementsAre("name: must have at most 8 bytes", "floors: must be above zero",
                          "lit: must be true or false, not a number", "rest: must be above zero",
                          "pause: must be a string with a unit, such as \"30s\", not a number",
                          "attic: must be from 1B to 1MiB", "colour: must be \"red\" or \"green\", not \"blue\"",
                          "heated: must be true or false, not a string", "rooms[1]: must be a string, not a number",
                          "notes.\"far too long\": is too long for a note",
                          "notes.\"a/b\": must be a string, not a number", "door: must be a table, not a list",
                          "cupboards[1].key_evn: is not a known key; did you mean key_env?",
                          "flors: is not a known key", "\"x\\ny\": is not a known key"));
  EXPECT_THAT(pointers, ::testing::Contains("/notes/a~1b"));
  EXPECT_THAT(pointers, ::testing::Contains("/cupboards/1/key_evn"));
  EXPECT_TRUE(house.name.empty());
}

// OPS-04
TEST(Binding, RefusesUnknownKeysWithTheNearestName) {
  EXPECT_THAT(read(R"({"name": "a", "flors": 3})").faults,
              ElementsAre("flors: is not a known key; did you mean floors?"));
  EXPECT_THAT(read(R"({"name": "a", "swimming": true})").faults, ElementsAre("swimming: is not a known key"));
}

TEST(Binding, AsksForWhatIsRequired) {
  EXPECT_THAT(read("{}").faults, ElementsAre(": name is missing"));
  EXPECT_THAT(read(R"({"name": null})").faults, ElementsAre(": name is missing"));
  EXPECT_THAT(read("[]").faults, ElementsAre(": must be a table, not a list"));
}

TEST(Binding, ReadsOntoAValueAndLeavesTheRest) {
  const auto [house, faults, pointers] =
      read(R"({"name": "b", "rooms": ["c"], "lit": null})", House{.floors = 7, .lit = true, .rooms = {"a", "b"}});
  EXPECT_THAT(faults, IsEmpty());
  EXPECT_EQ(house.floors, 7);
  EXPECT_TRUE(house.lit);
  EXPECT_THAT(house.rooms, ElementsAre("c"));
}

TEST(Binding, BoundsWhatIsReadAndReported) {
  EXPECT_THAT(read(R"({"name": "a", "rooms": ["1", "2", "3", "4"]})").faults,
              ElementsAre("rooms: has 4 strings, and at most 3 are allowed"));
  std::string many = R"({"name": "a")";
  for (int i = 0; i < 5000; ++i)
    many += ",\"k" + std::to_string(i) + "\": 1";
  EXPECT_EQ(read(many + "}").faults.size(), Faults::kMax);
  EXPECT_EQ(read(R"({"name": "a", "floors": 18446744073709551615})").faults.size(), 1U);
  EXPECT_EQ(read(R"({"name": "a", "floors": 1.5})").faults.size(), 1U);
}

TEST(Binding, KeepsSecretsApart) {
  constexpr std::string_view kWithKey = R"({"name": "a", "door": {"key": "hunter2"}})";
  EXPECT_THAT(read(kWithKey).faults, ElementsAre("door.key: a secret has no place in a file; name the environment "
                                                 "variable that holds it in key_env"));
  const auto [house, faults, pointers] = read(kWithKey, {}, Secrets::accepted);
  EXPECT_THAT(faults, IsEmpty());
  EXPECT_EQ(house.door.key.reveal(), "hunter2");
  EXPECT_THAT(boost::json::serialize(house_binding().write(house)), ::testing::Not(::testing::HasSubstr("hunter2")));
  EXPECT_EQ(boost::json::serialize(house_binding().write(house, Part::secrets)), R"({"door":{"key":"hunter2"}})");
  EXPECT_EQ(boost::json::serialize(house_binding().write(House{}, Part::secrets)), "{}");
}

TEST(Binding, DescribesItsKeys) {
  const auto keys = house_binding().describe();
  ASSERT_EQ(keys.size(), 12U);
  EXPECT_EQ(keys[0].default_text, "required");
  EXPECT_EQ(keys[1].type, "integer");
  EXPECT_EQ(keys[1].default_text, "2");
  EXPECT_EQ(keys[3].default_text, "\"5m\"");
  EXPECT_EQ(keys[6].type, "\"red\" or \"green\"");
  EXPECT_EQ(keys[7].default_text, "in winter");
  EXPECT_EQ(keys[8].type, "list of strings");
  EXPECT_EQ(keys[10].keys.size(), 2U);
  EXPECT_EQ(keys[11].keys[0].meaning, "The variable that holds the key.");
}

}  // namespace
}  // namespace proteus::json
