// SQLite's markers for the owner of memory are casts that Swift can't see, and its settings are variadic.

#include <sqlite3.h>

// Bytes are copied. An empty buffer may have no address, which would be null to SQLite.
static inline int syncline_sqlite_bind_text(sqlite3_stmt *statement, int index, const void *text, long size) {
    return sqlite3_bind_text64(statement, index, text ? text : "", size, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int syncline_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, long size) {
    return sqlite3_bind_blob64(statement, index, bytes ? bytes : "", size, SQLITE_TRANSIENT);
}

static inline void syncline_sqlite_result_text(sqlite3_context *context, const void *text, long size) {
    sqlite3_result_text64(context, text ? text : "", size, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline void syncline_sqlite_result_blob(sqlite3_context *context, const void *bytes, long size) {
    sqlite3_result_blob64(context, bytes ? bytes : "", size, SQLITE_TRANSIENT);
}

// A copy that SQLite frees.
static inline char *syncline_sqlite_text(const char *text) {
    return sqlite3_mprintf("%s", text);
}

static inline void syncline_sqlite_refuse_text_in_double_quotes(sqlite3 *database) {
    sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, (int *)0);
    sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DDL, 0, (int *)0);
}

// For statements that others wrote: no extensions, no trusted schema, no way around the checks of a file's pages.
static inline void syncline_sqlite_be_defensive(sqlite3 *database) {
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, (int *)0);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0, (int *)0);
}

// Lets statements write the table of the schema, or reads the schema again and lets them no more.
static inline void syncline_sqlite_let_schema_be_written(sqlite3 *database, int isWritable) {
    if (isWritable) sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 0, (int *)0);
    sqlite3_exec(
        database, isWritable ? "PRAGMA writable_schema = ON" : "PRAGMA writable_schema = RESET", 0, 0, (char **)0);
    if (!isWritable) sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}

// SQLite counts its memory under one lock, for which threads that read side by side wait. Only before the first use.
static inline void syncline_sqlite_count_no_memory(void) {
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

static const int syncline_sqlite_constraint_trigger = SQLITE_CONSTRAINT_TRIGGER;
