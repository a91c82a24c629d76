-- Invented sample data about projects. In this data, today is 2026-11-16.
-- Run it with SQLite on an empty database. Money is in euros, time in hours.

-- People.
CREATE TABLE people (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  role TEXT NOT NULL,
  language TEXT NOT NULL
);
INSERT INTO people VALUES
  ('P01', 'Ines Okafor', 'project manager', 'en'),
  ('P02', 'Tomasz Brandt', 'developer', 'en'),
  ('P03', '김하늘', 'developer', 'ko'),
  ('P04', 'Светлана Рогова', 'analyst', 'ru'),
  ('P05', '王立新', 'developer', 'zh'),
  ('P06', 'Mara Lindqvist', 'tester', 'en'),
  ('P07', '박서준', 'sponsor', 'ko'),
  ('P08', 'Dmitri Halloran', 'operations', 'en'),
  ('P09', 'Aiko Tanabe', 'designer', 'en'),
  ('P10', 'Noor Haddad', 'project manager', 'en');

-- Projects.
CREATE TABLE projects (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  manager TEXT NOT NULL REFERENCES people(id),
  sponsor TEXT NOT NULL REFERENCES people(id),
  status TEXT NOT NULL CHECK (status IN ('active', 'on hold', 'done')),
  starts TEXT NOT NULL,
  ends TEXT NOT NULL
);
INSERT INTO projects VALUES
  ('ATLAS', 'Claims portal', 'P01', 'P07', 'active', '2026-06-01', '2027-03-31'),
  ('BEACON', 'Partner data exchange', 'P10', 'P07', 'active', '2026-08-17', '2027-01-29'),
  ('CEDAR', 'Archive migration', 'P10', 'P08', 'on hold', '2026-03-02', '2026-12-18'),
  ('DELTA', 'Staff training portal', 'P01', 'P09', 'done', '2026-01-12', '2026-09-30');

-- Milestones, with the date when each was reached.
CREATE TABLE milestones (
  id TEXT PRIMARY KEY,
  project TEXT NOT NULL REFERENCES projects(id),
  name TEXT NOT NULL,
  due TEXT NOT NULL,
  reached TEXT
);
INSERT INTO milestones VALUES
  ('A-M1', 'ATLAS', 'Requirements agreed', '2026-07-10', '2026-07-09'),
  ('A-M2', 'ATLAS', 'Prototype shown', '2026-09-04', '2026-09-11'),
  ('A-M3', 'ATLAS', 'Data model frozen', '2026-10-16', '2026-10-16'),
  ('A-M4', 'ATLAS', 'Pilot with two branches', '2026-12-11', NULL),
  ('A-M5', 'ATLAS', 'Go-live', '2027-03-26', NULL),
  ('B-M1', 'BEACON', 'Interface contract signed', '2026-09-18', '2026-09-25'),
  ('B-M2', 'BEACON', 'First file exchanged', '2026-10-30', NULL),
  ('B-M3', 'BEACON', 'Load test passed', '2026-12-18', NULL),
  ('B-M4', 'BEACON', 'Hand-over to operations', '2027-01-29', NULL),
  ('C-M1', 'CEDAR', 'Inventory complete', '2026-04-30', '2026-05-08'),
  ('C-M2', 'CEDAR', 'Half of the archive moved', '2026-08-28', NULL),
  ('C-M3', 'CEDAR', 'Old system switched off', '2026-12-18', NULL),
  ('D-M1', 'DELTA', 'First course published', '2026-04-17', '2026-04-15'),
  ('D-M2', 'DELTA', 'All courses published', '2026-09-25', '2026-09-24');

-- Tasks.
CREATE TABLE tasks (
  id TEXT PRIMARY KEY,
  project TEXT NOT NULL REFERENCES projects(id),
  milestone TEXT REFERENCES milestones(id),
  title TEXT NOT NULL,
  assignee TEXT NOT NULL REFERENCES people(id),
  status TEXT NOT NULL CHECK (status IN ('to do', 'in progress', 'blocked', 'done')),
  estimate_hours INTEGER NOT NULL,
  due TEXT NOT NULL,
  done TEXT
);
INSERT INTO tasks VALUES
  ('A-01', 'ATLAS', 'A-M1', 'Collect claim types from the branches', 'P04', 'done', 24, '2026-06-26', '2026-06-25'),
  ('A-02', 'ATLAS', 'A-M1', 'Write the glossary of claim states', 'P04', 'done', 16, '2026-07-03', '2026-07-03'),
  ('A-03', 'ATLAS', 'A-M1', 'Agree requirements with the sponsor', 'P01', 'done', 12, '2026-07-10', '2026-07-09'),
  ('A-04', 'ATLAS', 'A-M2', 'Sketch the claim form', 'P09', 'done', 20, '2026-08-07', '2026-08-12'),
  ('A-05', 'ATLAS', 'A-M2', 'Build the clickable prototype', 'P02', 'done', 40, '2026-08-28', '2026-09-04'),
  ('A-06', 'ATLAS', 'A-M2', 'Show the prototype to three branches', 'P01', 'done', 10, '2026-09-04', '2026-09-11'),
  ('A-07', 'ATLAS', 'A-M3', 'Model claims and payments', 'P05', 'done', 48, '2026-10-02', '2026-10-05'),
  ('A-08', 'ATLAS', 'A-M3', 'Review the data model', 'P04', 'done', 14, '2026-10-16', '2026-10-16'),
  ('A-09', 'ATLAS', 'A-M4', 'Log in with the company directory', 'P03', 'done', 30, '2026-10-30', '2026-11-02'),
  ('A-10', 'ATLAS', 'A-M4', 'Claim form, first version', 'P02', 'in progress', 60, '2026-11-20', NULL),
  ('A-11', 'ATLAS', 'A-M4', 'Attachments up to 20 MB', 'P05', 'in progress', 32, '2026-11-20', NULL),
  ('A-12', 'ATLAS', 'A-M4', 'Payment status page', 'P03', 'in progress', 28, '2026-11-27', NULL),
  ('A-13', 'ATLAS', 'A-M4', 'Test plan for the pilot', 'P06', 'in progress', 18, '2026-11-20', NULL),
  ('A-14', 'ATLAS', 'A-M4', 'Translate the form into Korean', 'P03', 'to do', 16, '2026-12-04', NULL),
  ('A-15', 'ATLAS', 'A-M4', 'Pilot with Busan and Leeds', 'P01', 'to do', 24, '2026-12-11', NULL),
  ('A-16', 'ATLAS', 'A-M4', 'Audit trail of changes', 'P05', 'blocked', 36, '2026-11-13', NULL),
  ('A-17', 'ATLAS', 'A-M5', 'Accessibility check', 'P06', 'to do', 20, '2027-01-22', NULL),
  ('A-18', 'ATLAS', 'A-M5', 'Load test with 500 users', 'P08', 'to do', 24, '2027-02-12', NULL),
  ('A-19', 'ATLAS', 'A-M5', 'Training for branch staff', 'P09', 'to do', 30, '2027-03-12', NULL),
  ('A-20', 'ATLAS', 'A-M5', 'Go-live checklist', 'P08', 'to do', 12, '2027-03-19', NULL),
  ('B-01', 'BEACON', 'B-M1', 'Draft the interface contract', 'P10', 'done', 20, '2026-09-04', '2026-09-07'),
  ('B-02', 'BEACON', 'B-M1', 'Sign the interface contract', 'P10', 'done', 6, '2026-09-18', '2026-09-25'),
  ('B-03', 'BEACON', 'B-M2', 'Set up the exchange server', 'P08', 'done', 26, '2026-10-09', '2026-10-14'),
  ('B-04', 'BEACON', 'B-M2', 'Map partner fields to ours', 'P04', 'done', 34, '2026-10-16', '2026-10-23'),
  ('B-05', 'BEACON', 'B-M2', 'Check files on arrival', 'P02', 'in progress', 38, '2026-10-30', NULL),
  ('B-06', 'BEACON', 'B-M2', 'Send the first file', 'P08', 'blocked', 8, '2026-10-30', NULL),
  ('B-07', 'BEACON', 'B-M2', 'Retry after a broken transfer', 'P05', 'in progress', 22, '2026-11-13', NULL),
  ('B-08', 'BEACON', 'B-M3', 'Alert when a file is late', 'P02', 'to do', 14, '2026-11-27', NULL),
  ('B-09', 'BEACON', 'B-M3', 'Load test with 50,000 rows', 'P06', 'to do', 16, '2026-12-11', NULL),
  ('B-10', 'BEACON', 'B-M4', 'Run book for operations', 'P08', 'to do', 18, '2027-01-15', NULL),
  ('B-11', 'BEACON', 'B-M4', 'Hand-over meeting', 'P10', 'to do', 4, '2027-01-29', NULL),
  ('C-01', 'CEDAR', 'C-M1', 'List what the archive holds', 'P04', 'done', 40, '2026-04-24', '2026-05-06'),
  ('C-02', 'CEDAR', 'C-M1', 'Decide what is thrown away', 'P10', 'done', 16, '2026-04-30', '2026-05-08'),
  ('C-03', 'CEDAR', 'C-M2', 'Copy the years 2010 to 2015', 'P05', 'done', 60, '2026-07-31', '2026-08-05'),
  ('C-04', 'CEDAR', 'C-M2', 'Copy the years 2016 to 2020', 'P05', 'blocked', 60, '2026-08-28', NULL),
  ('C-05', 'CEDAR', 'C-M2', 'Compare sums of old and new', 'P06', 'to do', 30, '2026-09-11', NULL),
  ('C-06', 'CEDAR', 'C-M3', 'Switch off the old system', 'P08', 'to do', 12, '2026-12-18', NULL),
  ('D-01', 'DELTA', 'D-M1', 'Choose the course platform', 'P09', 'done', 18, '2026-02-13', '2026-02-12'),
  ('D-02', 'DELTA', 'D-M1', 'Record the first course', 'P09', 'done', 36, '2026-04-10', '2026-04-13'),
  ('D-03', 'DELTA', 'D-M1', 'Publish the first course', 'P08', 'done', 6, '2026-04-17', '2026-04-15'),
  ('D-04', 'DELTA', 'D-M2', 'Record five more courses', 'P09', 'done', 90, '2026-08-28', '2026-09-02'),
  ('D-05', 'DELTA', 'D-M2', 'Publish all courses', 'P08', 'done', 10, '2026-09-25', '2026-09-24');

-- Issues.
CREATE TABLE issues (
  id TEXT PRIMARY KEY,
  project TEXT NOT NULL REFERENCES projects(id),
  task TEXT REFERENCES tasks(id),
  title TEXT NOT NULL,
  owner TEXT NOT NULL REFERENCES people(id),
  severity TEXT NOT NULL CHECK (severity IN ('low', 'medium', 'high', 'critical')),
  status TEXT NOT NULL CHECK (status IN ('open', 'closed')),
  opened TEXT NOT NULL,
  closed TEXT
);
INSERT INTO issues VALUES
  ('I-101', 'ATLAS', 'A-16', 'Audit trail needs a decision on how long changes are kept', 'P05', 'high', 'open', '2026-11-04', NULL),
  ('I-102', 'ATLAS', 'A-10', 'Claim form loses its text when the session ends', 'P02', 'high', 'open', '2026-11-09', NULL),
  ('I-103', 'ATLAS', 'A-11', 'Attachments of more than 8 MB are refused by the proxy', 'P08', 'medium', 'open', '2026-11-10', NULL),
  ('I-104', 'ATLAS', 'A-07', 'Payment dates in two time zones', 'P05', 'medium', 'closed', '2026-09-28', '2026-10-05'),
  ('I-105', 'ATLAS', NULL, 'Branch in Leeds has no test accounts', 'P01', 'low', 'open', '2026-11-12', NULL),
  ('I-106', 'ATLAS', 'A-09', 'Directory log-in fails for names with accents', 'P03', 'medium', 'closed', '2026-10-26', '2026-11-02'),
  ('I-201', 'BEACON', 'B-06', 'Partner firewall blocks port 8443', 'P08', 'critical', 'open', '2026-10-27', NULL),
  ('I-202', 'BEACON', 'B-05', 'Partner sends dates as day/month', 'P02', 'medium', 'open', '2026-11-03', NULL),
  ('I-203', 'BEACON', 'B-04', 'Two partner fields have no counterpart', 'P04', 'low', 'closed', '2026-10-12', '2026-10-22'),
  ('I-301', 'CEDAR', 'C-04', 'Tape for 2017 cannot be read', 'P05', 'critical', 'open', '2026-08-12', NULL),
  ('I-302', 'CEDAR', 'C-03', 'Sums for 2013 differ by 4 records', 'P06', 'high', 'closed', '2026-08-07', '2026-08-21'),
  ('I-401', 'DELTA', 'D-04', 'Sound missing in course three', 'P09', 'low', 'closed', '2026-08-31', '2026-09-02');

-- Risks. Exposure is probability times impact.
CREATE TABLE risks (
  id TEXT PRIMARY KEY,
  project TEXT NOT NULL REFERENCES projects(id),
  title TEXT NOT NULL,
  probability INTEGER NOT NULL CHECK (probability BETWEEN 1 AND 5),
  impact INTEGER NOT NULL CHECK (impact BETWEEN 1 AND 5),
  answer TEXT NOT NULL,
  owner TEXT NOT NULL REFERENCES people(id),
  status TEXT NOT NULL CHECK (status IN ('open', 'closed'))
);
INSERT INTO risks VALUES
  ('R-11', 'ATLAS', 'The pilot slips because the audit trail is not decided', 4, 4, 'Decide retention by 20 November; otherwise pilot without audit trail', 'P01', 'open'),
  ('R-12', 'ATLAS', 'Translation is reviewed too late', 3, 2, 'Book the reviewer in Seoul for the first week of December', 'P03', 'open'),
  ('R-13', 'ATLAS', 'Load at go-live is higher than tested', 2, 4, 'Test with 500 users, plan for 800', 'P08', 'open'),
  ('R-14', 'ATLAS', 'Sponsor changes during the year', 1, 3, 'Minutes of every decision', 'P01', 'closed'),
  ('R-21', 'BEACON', 'The partner opens its firewall too late', 4, 5, 'Escalated to the sponsor on 5 November', 'P10', 'open'),
  ('R-22', 'BEACON', 'Field mapping changes after signing', 2, 3, 'Changes only by amendment of the contract', 'P04', 'open'),
  ('R-31', 'CEDAR', 'Data of 2017 is lost', 3, 5, 'A recovery firm looks at the tape', 'P10', 'open'),
  ('R-32', 'CEDAR', 'The licence of the old system ends before it is switched off', 3, 4, 'Extend by three months', 'P08', 'open'),
  ('R-41', 'DELTA', 'Staff do not find the courses', 2, 2, 'Link from the intranet''s first page', 'P09', 'closed');

-- Money, planned and spent so far.
CREATE TABLE budget (
  project TEXT NOT NULL REFERENCES projects(id),
  category TEXT NOT NULL,
  planned INTEGER NOT NULL,
  spent INTEGER NOT NULL,
  PRIMARY KEY (project, category)
);
INSERT INTO budget VALUES
  ('ATLAS', 'people', 310000, 168400),
  ('ATLAS', 'licences', 42000, 31500),
  ('ATLAS', 'hardware', 18000, 6200),
  ('ATLAS', 'travel', 9000, 4150),
  ('BEACON', 'people', 140000, 61800),
  ('BEACON', 'licences', 12000, 12000),
  ('BEACON', 'hardware', 22000, 19750),
  ('CEDAR', 'people', 95000, 71300),
  ('CEDAR', 'licences', 15000, 15000),
  ('CEDAR', 'recovery', 20000, 8400),
  ('DELTA', 'people', 88000, 84950),
  ('DELTA', 'licences', 16000, 16000),
  ('DELTA', 'travel', 4000, 2300);

-- Hours booked, by the Monday of the week.
CREATE TABLE hours (
  person TEXT NOT NULL REFERENCES people(id),
  task TEXT NOT NULL REFERENCES tasks(id),
  week TEXT NOT NULL,
  hours REAL NOT NULL,
  PRIMARY KEY (person, task, week)
);
INSERT INTO hours VALUES
  ('P02', 'A-10', '2026-10-19', 22),
  ('P02', 'B-05', '2026-10-19', 14),
  ('P03', 'A-09', '2026-10-19', 17),
  ('P04', 'B-04', '2026-10-19', 18),
  ('P05', 'A-11', '2026-10-19', 14),
  ('P05', 'B-07', '2026-10-19', 14),
  ('P06', 'A-13', '2026-10-19', 12),
  ('P08', 'B-03', '2026-10-19', 12),
  ('P08', 'B-06', '2026-10-19', 6),
  ('P01', 'A-15', '2026-10-19', 4),
  ('P02', 'A-10', '2026-10-26', 24),
  ('P02', 'B-05', '2026-10-26', 14),
  ('P03', 'A-09', '2026-10-26', 14),
  ('P04', 'B-04', '2026-10-26', 18),
  ('P05', 'A-11', '2026-10-26', 17),
  ('P05', 'B-07', '2026-10-26', 13),
  ('P06', 'A-13', '2026-10-26', 12),
  ('P08', 'B-06', '2026-10-26', 4),
  ('P01', 'A-15', '2026-10-26', 4),
  ('P02', 'A-10', '2026-11-02', 24),
  ('P02', 'B-05', '2026-11-02', 15),
  ('P03', 'A-09', '2026-11-02', 14),
  ('P03', 'A-12', '2026-11-02', 20),
  ('P05', 'A-11', '2026-11-02', 14),
  ('P05', 'B-07', '2026-11-02', 12),
  ('P06', 'A-13', '2026-11-02', 16),
  ('P08', 'B-06', '2026-11-02', 2),
  ('P01', 'A-15', '2026-11-02', 8),
  ('P02', 'A-10', '2026-11-09', 24),
  ('P02', 'B-05', '2026-11-09', 15),
  ('P03', 'A-12', '2026-11-09', 16),
  ('P05', 'A-11', '2026-11-09', 16),
  ('P05', 'B-07', '2026-11-09', 10),
  ('P06', 'A-13', '2026-11-09', 16),
  ('P08', 'B-06', '2026-11-09', 4),
  ('P01', 'A-15', '2026-11-09', 6);
