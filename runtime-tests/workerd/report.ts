/** What the worker hands to the process that started it. */
export interface Report {
  readonly files: ReadonlyArray<FileReport>
}

export interface FileReport {
  readonly file: string
  readonly passed: number
  readonly skipped: number
  readonly failures: ReadonlyArray<Failure>
}

export interface Failure {
  /** The names from the file's outermost suite down to the test. */
  readonly path: ReadonlyArray<string>
  readonly message: string
}

/** The name under which the worker stores its report on the disk service bound as `REPORT`. */
export const reportFile = "report.json"
