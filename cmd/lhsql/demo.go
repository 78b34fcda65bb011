package main

import "errors"

func runDemo(*config) error { return errors.New("not yet") }
