export type Telling = ReturnType<typeof createTelling>

/** Whether other processes know what may be shown, and telling them. */
export const createTelling = (send: () => Promise<void>) => {
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
    /** They have to be told. */
    changed() {
      isUntold = true
    },
    /** They are to be told when there is nothing more to ship. */
    changedALittle() {
      isOld = true
    },
    /** They know: what this process has is what it was told. */
    known() {
      isUntold = false
    },
    /** Tells what changed, if anything did. */
    tellChanges: async () => {
      if (isUntold) await tell()
    },
    isUntold: () => isUntold || isOld,
    /** Whether they know for certain. */
    isTold: () => !isUntold && !isTelling,
  }
}
