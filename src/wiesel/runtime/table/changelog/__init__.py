"""Internal. Changelogs: conversion to rows, constraints of sinks, and materialisation by the key of a table."""
