/** What one runtime's tests came to. */
export interface Tally {
  readonly passed: number
  readonly failed: number
}

export const zero: Tally = { passed: 0, failed: 0 }

export const add = (self: Tally, that: Tally): Tally => ({
  passed: self.passed + that.passed,
  failed: self.failed + that.failed
})

/** A run in which nothing failed because nothing ran is not a success. */
export const isSuccess = (self: Tally): boolean => self.failed === 0 && self.passed > 0

export const format = (self: Tally): string => `${self.passed} passed, ${self.failed} failed`
