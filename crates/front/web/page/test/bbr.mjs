// What the story of BBR says: the answer of each step by its position, and what whole runs show of it, each with bounds
// on a side of the page.
export const SHOWS = [
  {
    answer: 0,
    shows: [
      // A tenth of 320 ms.
      { side: 0, median: "not_ect", max: 0.032 },
      { side: 0, utilisation: true, min: 0.95 },
      { side: 1, drops: true, min: 500 },
      { side: 1, utilisation: true, min: 0.95 },
    ],
  },
  { answer: 0, shows: [{ side: 0, least: "bbr", min: 4, max: 4 }] },
  {
    answer: 1,
    shows: [
      { side: 0, part: "cubic", max: 0.15 },
      { side: 1, part: "cubic", min: 0.4 },
    ],
  },
  { answer: 1, shows: [{ side: 0, part: "cubic", min: 0.2 }] },
  { answer: 2, shows: [{ side: 0, ratio: ["bbr", "dctcp"], min: 5 }] },
  { answer: 0, shows: [{ side: 1, ratio: ["bbr", "dctcp"], min: 0.8, max: 1.25 }] },
  {
    answer: 2,
    shows: [
      { side: 0, ratio: ["bbr", "dctcp"], min: 0.8, max: 1.25 },
      { side: 1, ratio: ["bbr", "dctcp"], min: 3 },
    ],
  },
];
