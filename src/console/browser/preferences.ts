import { createStore, type Store } from './state.ts'

/** A choice of this browser, for all of its tabs. */
const keepChoice = <T extends string>(name: string, choices: readonly [T, ...T[]]): Store<T> => {
  const key = `chainsieve.${name}`
  const store = createStore<T>(choices.find(it => it === readKept(key)) ?? choices[0])
  return {
    ...store,
    set(value) {
      store.set(value)
      try {
        localStorage.setItem(key, value)
      } catch {
        // The choice lasts as long as the page.
      }
    },
  }
}

const readKept = (key: string): string | null => {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

export const theme = keepChoice('theme', ['system', 'light', 'dark'])

/** The zone of all times. */
export const zone = keepChoice('zone', ['UTC', 'local'])

const applyTheme = () => {
  document.documentElement.style.colorScheme = theme.get() === 'system' ? 'light dark' : theme.get()
}
applyTheme()
theme.subscribe(applyTheme)
