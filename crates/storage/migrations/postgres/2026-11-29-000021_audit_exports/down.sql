drop table audit_exports;
