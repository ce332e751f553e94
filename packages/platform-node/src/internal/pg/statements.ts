/**
 * The statements of a store in Postgres. Each is one transaction by itself.
 *
 * @internal
 */
export interface Statements {
  readonly create: string
  readonly check: string
  readonly get: string
  readonly make: string
  readonly replace: string
  readonly list: string
  readonly sweep: string
}

/** The lock of those that make tables at the same time: `CREATE TABLE IF NOT EXISTS` alone can fail then. */
const creation = 7_308_332_045

/**
 * `name` holds nothing that has to be quoted twice. Times are by `clock_timestamp()`: `now()` stands still in a
 * transaction. For `sweep` it has to be a time that an index can be searched for. `COLLATE "C"` compares bytes, whatever the language of the database.
 *
 * @internal
 */
export const statements = (schema: string | undefined, name: string): Statements => {
  const table = schema === undefined ? `"${name}"` : `"${schema.replaceAll("\"", "\"\"")}"."${name}"`
  const lifetime = "clock_timestamp() + $6::float8 * interval '1 millisecond'"
  const isLive = "record.expires_at > clock_timestamp()"
  // A write that is sent again changes nothing, and does not make the record live longer.
  const expiry = `CASE WHEN record.version = $3::text AND ${isLive} THEN record.expires_at ELSE ${lifetime} END`
  return {
    create: `DO $create$ BEGIN
  IF to_regclass('${table}') IS NULL THEN
    PERFORM pg_advisory_xact_lock(${creation});
    CREATE TABLE IF NOT EXISTS ${table} (
      collection text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      version text COLLATE "C" NOT NULL,
      tag text COLLATE "C" NOT NULL,
      value text NOT NULL,
      expires_at timestamptz NOT NULL,
      PRIMARY KEY (collection, id)
    );
    CREATE INDEX IF NOT EXISTS "${name}_by_tag" ON ${table} (collection, tag, id);
    CREATE INDEX IF NOT EXISTS "${name}_by_expiry" ON ${table} (expires_at);
  END IF;
END $create$`,
    check: `SELECT current_setting('synchronous_commit') AS commit, count(*)::int AS columns,
  (SELECT nspname::text FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE pg_class.oid = to_regclass('${table}')) AS schema
FROM pg_attribute
WHERE attrelid = to_regclass('${table}') AND attnotnull AND (
  attname IN ('collection', 'id', 'version', 'tag') AND atttypid = 'text'::regtype AND attcollation = '"C"'::regcollation
  OR attname = 'value' AND atttypid = 'text'::regtype
  OR attname = 'expires_at' AND atttypid = 'timestamptz'::regtype
)`,
    get: `SELECT value, version FROM ${table} AS record WHERE collection = $1::text AND id = $2::text AND ${isLive}`,
    make: `INSERT INTO ${table} AS record (collection, id, version, tag, value, expires_at)
VALUES ($1::text, $2::text, $3::text, $4::text, $5::text, ${lifetime})
ON CONFLICT (collection, id) DO UPDATE
SET version = excluded.version, tag = excluded.tag, value = excluded.value, expires_at = ${expiry}
WHERE record.version = $3::text OR NOT ${isLive}
RETURNING 1`,
    replace: `UPDATE ${table} AS record
SET version = $3::text, tag = $4::text, value = $5::text, expires_at = ${expiry}
WHERE collection = $1::text AND id = $2::text AND version IN ($3::text, $7::text) AND ${isLive}
RETURNING 1`,
    list: `SELECT id, value, version FROM ${table} AS record
WHERE collection = $1::text AND tag = $2::text AND id > $3::text AND ${isLive}
ORDER BY id LIMIT $4::int`,
    sweep: `WITH swept AS (
  DELETE FROM ${table} WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM ${table} WHERE expires_at <= statement_timestamp() LIMIT ${sweepSize} FOR UPDATE SKIP LOCKED
  )) RETURNING 1
) SELECT count(*)::int AS count FROM swept`
  }
}

/**
 * How many records are swept at once.
 *
 * @internal
 */
export const sweepSize = 1_000

/**
 * How many columns `check` counts.
 *
 * @internal
 */
export const columns = 6
