drop index mentions_of_cohorts;
drop table cohorts;
