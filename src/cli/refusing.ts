import { ChainsieveError } from '../lib/errors.ts'
import { misused } from './command.ts'

/** What is refused was typed wrongly. */
export const refusing = async <T>(find: () => T | Promise<T>): Promise<T> => {
  try {
    return await find()
  } catch (error) {
    throw error instanceof ChainsieveError && error.next === 'refuse' ? misused(error.message) : error
  }
}
