// Generated from jupyter_toolcall/view by `npm run contract`. Do not edit.

const RING = "M8 2a6 6 0 1 1 0 12a6 6 0 1 1 0-12z";

export const ICONS = {
  "done": [
    "M3.5 8.5l3 3 6-7"
  ],
  "wait": [
    RING,
    "M6.5 6v4M9.5 6v4"
  ],
  "edited": [
    "M3 13l.7-3 7-7 2.3 2.3-7 7z"
  ],
  "memory": [
    "M3 8a5 5 0 1 0 1.6-3.7",
    "M3 2.8v2.7h2.7"
  ],
  "failed": [
    "M5.3 2h5.4L14 5.3v5.4L10.700 14H5.3L2 10.7V5.3z",
    "M6 6l4 4M10 6l-4 4"
  ],
  "near": [
    RING,
    "M5 8.6c1-1.400 2-1.400 3-.4s2 1 3-.4"
  ],
  "warning": [
    "M8 2.500L14.500 13.500h-13z",
    "M8 6.500v3.300M8 11.600h.01"
  ],
  "person": [
    "M8 3a2.5 2.500 0 1 1 0 5a2.5 2.5 0 1 1 0-5z",
    "M3 13.5c.6-2.6 2.5-4 5-4s4.4 1.4 5 4"
  ],
  "reject": [
    RING,
    "M4 12l8-8"
  ],
  "run": [
    "M5 3.5v9l7-4.5z"
  ],
  "step": [
    "M4 3.5v9l6-4.5zM12.5 3.5v9"
  ],
  "stop": [
    "M4 4h8v8H4z"
  ],
  "fit": [
    "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10"
  ],
  "plus": [
    "M8 3.5v9M3.5 8h9"
  ],
  "minus": [
    "M3.5 8h9"
  ],
  "down": [
    "M4.5 6.5L8 10l3.5-3.5"
  ],
  "equal": [
    "M4 6.5h8M4 9.5h8"
  ],
  "info": [
    RING,
    "M8 7.5V11M8 5.2h.01"
  ],
  "flag": [
    "M4.500 14V3h7.500L10 5.500 12 8H4.500"
  ],
  "clock": [
    RING,
    "M8 4.5V8l2.3 1.5"
  ],
  "rule": [
    "M2.5 4.500l1.200 1.200 2-2.400M2.500 10.500l1.200 1.200 2-2.400M8.500 4.500h5M8.500 11h5"
  ],
  "pause": [
    "M5.500 3.500v9M10.500 3.500v9"
  ],
  "differs": [
    "M4 6.500h8M4 9.500h8M10 4l-4 8"
  ],
  "close": [
    "M4 4l8 8M12 4l-8 8"
  ],
  "ready": [
    RING
  ],
  "thinking": [
    "M3.5 8h.01M8 8h.01M12.5 8h.01"
  ],
  "search": [
    "M7 2.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 1 1 0-9z",
    "M10.3 10.3L14 14"
  ],
  "up": [
    "M4.5 9.5L8 6l3.5 3.5"
  ],
  "out": [
    "M3 8h9.500M9 4.500L12.500 8 9 11.500"
  ],
  "more": [
    "M3.5 8h.01M8 8h.01M12.5 8h.01"
  ],
  "hide": [
    "M2 8c1.500-2.700 3.500-4 6-4s4.500 1.300 6 4c-1.500 2.700-3.500 4-6 4s-4.500-1.300-6-4z",
    "M3 13L13 3"
  ]
} as const;

export const GLYPHS = {
  "next": [
    "M9.3 9.2a2.8 2.8 0 1 1 3.9 2.6c-.8.4-1.2.9-1.2 1.9M12 17h.01"
  ],
  "flag": [
    "M7 20V5h10l-2.5 3.5L17 12H7"
  ],
  "running": [
    "M8.5 6v12l9.5-6z"
  ],
  "text": [
    "M5 6.5h14M5 10.5h14M5 14.5h14M5 18.5h8"
  ],
  "table": [
    "M4 5.5h16v13H4zM4 10h16M4 14.3h16M10 5.5v13"
  ],
  "fields": [
    "M5 7h3M11 7h8M5 12h3M11 12h8M5 17h3M11 17h8"
  ],
  "object": [
    "M12 3.5l7.500 4.2v8.6L12 20.5l-7.5-4.2V7.7z",
    "M4.5 7.7L12 12l7.5-4.3M12 12v8.5"
  ]
} as const;

export const STATE_ICONS = {
  "waits": "wait",
  "running": "run",
  "failed": "failed",
  "rejected": "reject",
  "answered": "person",
  "interrupted": "stop",
  "unknown": "warning"
} as const;
