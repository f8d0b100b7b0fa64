/** Whether other processes know what may be shown, and telling them. */
export interface Telling {
  /** They have to be told. */
  changed(): void
  /** They are to be told when there is nothing more to ship. */
  changedALittle(): void
  /** They know: what this process has is what it was told. */
  known(): void
  tell(): Promise<void>
  /** Tells what changed, if anything did. */
  tellChanges(): Promise<void>
  isUntold(): boolean
  /** Whether they know for certain. */
  isTold(): boolean
}

export const createTelling = (send: () => Promise<void>): Telling => {
  let isUntold = true
  let isTelling = false
  let isOld = false
  const tell = async () => {
    isUntold = false
    isOld = false
    isTelling = true
    try {
      await send()
    } catch (error) {
      isUntold = true
      throw error
    } finally {
      isTelling = false
    }
  }
  return {
    tell,
    changed() {
      isUntold = true
    },
    changedALittle() {
      isOld = true
    },
    known() {
      isUntold = false
    },
    tellChanges: async () => {
      if (isUntold) await tell()
    },
    isUntold: () => isUntold || isOld,
    isTold: () => !isUntold && !isTelling,
  }
}
