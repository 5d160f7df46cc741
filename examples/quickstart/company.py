#!/usr/bin/env python3
"""Generates an invented company: teams, people, projects and documents, a few thousand rows, the same in each run.

company.py --out FILE    makes a SQLite database
company.py --sql         prints statements for SQLite or PostgreSQL

All names are combined from lists of words; none of these people exist.
"""
import argparse
import os
import random
import sqlite3

GIVEN = """Alva Bram Cleo Dario Elin Falk Gwen Hugo Isla Joren Kaia Lennart Mirel Nadia Orin Petra Quill Runa Silas Tamsin
Ulla Viggo Wren Xenia Yorick Zelda Arlo Brisa Corin Delia Emrys Faye Galen Hedda Ivo Jonna Kellan Lior Maren Niko""".split()
FAMILY = """Ashford Birchall Cavendale Dunmore Elmsworth Fairbrook Greyling Hollowell Ironside Jessop Kestrel Larkmoor
Merrow Northgate Oakhurst Pendry Quarry Ravenhill Stonebridge Thornbury Underhill Vexley Westmere Yarrow Zephyrine Amberley
Brightwater Copperfield Drystone Eastlake Foxglove Goldfinch Harrowgate Inkwell Juniper Kingfisher Longmead Mossman""".split()
COLOURS = "Amber Blue Copper Dusk Ember Frost Golden Hazel Indigo Jade".split()
THINGS = "Anchor Beacon Compass Delta Engine Falcon Garden Harbour Island Journey Keystone Lantern Meridian Nimbus Orbit".split()
FIELDS = "Platform Research Sales Support Design Finance Data Security Logistics Legal Field Quality".split()
TITLES = "Engineer Analyst Designer Manager Consultant Researcher Administrator Technician Planner Editor".split()
KINDS = "report memo specification plan minutes handbook".split()
STATES = "planned running paused done".split()

SCHEMA = """
CREATE TABLE teams (id integer PRIMARY KEY, name text NOT NULL UNIQUE, code varchar(8) NOT NULL UNIQUE, field text);
CREATE TABLE people (id integer PRIMARY KEY, name text NOT NULL, email text UNIQUE, title text, started date,
  team_id integer REFERENCES teams (id), manager_id integer REFERENCES people (id));
CREATE TABLE projects (id integer PRIMARY KEY, name text NOT NULL, status text, budget integer,
  team_id integer REFERENCES teams (id), lead_id integer REFERENCES people (id));
CREATE TABLE assignments (person_id integer NOT NULL REFERENCES people (id),
  project_id integer NOT NULL REFERENCES projects (id), PRIMARY KEY (person_id, project_id));
CREATE TABLE documents (id integer PRIMARY KEY, title text NOT NULL, kind text, written date,
  author_id integer REFERENCES people (id), project_id integer);
CREATE INDEX people_by_team ON people (team_id);
CREATE INDEX people_by_manager ON people (manager_id);
CREATE INDEX projects_by_team ON projects (team_id);
CREATE INDEX projects_by_lead ON projects (lead_id);
CREATE INDEX assignments_by_project ON assignments (project_id);
CREATE INDEX documents_by_author ON documents (author_id);
CREATE INDEX documents_by_project ON documents (project_id);
"""


def day(dice):
    return f"{dice.randint(2015, 2025)}-{dice.randint(1, 12):02}-{dice.randint(1, 28):02}"


def rows():
    """Returns the tables with their rows, in an order that satisfies foreign keys."""
    dice = random.Random(28)
    teams = []
    for number in range(1, 49):
        field = FIELDS[(number - 1) % len(FIELDS)]
        teams.append((number, f"{field} {COLOURS[(number - 1) // len(FIELDS)]}", f"T{number:03}", field))
    names = [f"{given} {family}" for given in GIVEN for family in FAMILY]
    dice.shuffle(names)
    people = []
    for number in range(1, 1201):
        name = names[number - 1]
        team = (number - 1) % len(teams) + 1
        # The first person of each team leads it; the very first leads the team leads.
        manager = None if number == 1 else 1 if number <= len(teams) else team
        title = "Director" if number == 1 else "Team lead" if number <= len(teams) else dice.choice(TITLES)
        email = None if number % 97 == 0 else name.lower().replace(" ", ".") + "@acme.example"
        people.append((number, name, email, title, day(dice), team, manager))
    projects = []
    for number in range(1, 151):
        name = f"{COLOURS[(number - 1) % len(COLOURS)]} {THINGS[(number - 1) // len(COLOURS)]}"
        lead = None if number % 25 == 0 else dice.randint(1, len(people))
        projects.append((number, name, dice.choice(STATES), dice.randint(10, 900) * 1000, dice.randint(1, len(teams)), lead))
    assignments = sorted({(dice.randint(1, len(people)), dice.randint(1, len(projects))) for _ in range(1500)})
    documents = []
    for number in range(1, 1001):
        project = projects[dice.randint(0, len(projects) - 1)]
        kind = dice.choice(KINDS)
        # Some documents belong to projects that no longer exist.
        belongs = 9000 + number if number % 200 == 0 else project[0]
        documents.append((number, f"{project[1]}: {kind} {number}", kind, day(dice), dice.randint(1, len(people)), belongs))
    return [("teams", teams), ("people", people), ("projects", projects), ("assignments", assignments), ("documents", documents)]


def literal(value):
    if value is None:
        return "NULL"
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", help="the database to make; one that is there is replaced")
    parser.add_argument("--sql", action="store_true", help="print statements instead")
    arguments = parser.parse_args()
    if arguments.sql:
        print(SCHEMA)
        for table, content in rows():
            values = ",\n".join("(" + ", ".join(map(literal, row)) + ")" for row in content)
            print(f"INSERT INTO {table} VALUES\n{values};")
        return
    if not arguments.out:
        parser.error("one of --out and --sql is needed")
    draft = arguments.out + ".new"
    if os.path.exists(draft):
        os.remove(draft)
    with sqlite3.connect(draft) as database:
        database.executescript(SCHEMA)
        for table, content in rows():
            database.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(content[0]))})", content)
    database.close()
    os.replace(draft, arguments.out)


if __name__ == "__main__":
    main()
